import { endingOf, fuzzer, testFuzzer } from '../../../../test/fuzz/fuzz.js'
import { mutate, type Dice } from '../../../../test/fuzz/mutator.js'
import { openModelParts, type FormatLimits } from '../../src/formats/index.js'
import { concat, entry, ggufHead, info, padTo, shard, text, u32 } from '../formats/bytes.js'
import { MemoryFolder } from '../formats/memory-folder.js'

const limits: Partial<FormatLimits> = { maxEntryBytes: 4096, maxMetadataBytes: 65_536, maxParts: 8 }

const splitPart = (number: number, ...names: readonly string[]): Uint8Array => {
  const keys = [
    entry('split.no', 2, Uint8Array.of(number, 0)),
    entry('split.count', 2, Uint8Array.of(2, 0)),
    entry('split.tensors.count', 5, u32(3)),
    entry('general.name', 8, text('x')),
  ]
  const infos = names.map((name, index) => info(name, [1], 0, 32 * index))
  const header = concat(ggufHead(names.length, keys.length), ...keys, ...infos)
  return padTo(Math.ceil(header.byteLength / 32) * 32 + 32 * names.length, header)
}

/** Models of several files: the name to open, and the files. */
const MODELS: readonly (readonly [name: string, files: Readonly<Record<string, Uint8Array>>])[] = [
  [
    'index.json',
    {
      'index.json': Buffer.from('{"metadata":{"n":[1.5,null]},"weight_map":{"a":"x.st","b":"y.st","c\\u00e9":"x.st"}}'),
      'x.st': shard('a', 'c\\u00e9'),
      'y.st': shard('b'),
    },
  ],
  [
    'm-00002-of-00002.gguf',
    { 'm-00001-of-00002.gguf': splitPart(0, 'a'), 'm-00002-of-00002.gguf': splitPart(1, 'b', 'c') },
  ],
]

/** Opens a model with one changed file. Checks that no other folder is accessed and that every file is closed. */
async function open(dice: Dice): Promise<string> {
  const [given, files] = dice.pick(MODELS)
  const changed = dice.pick(Object.keys(files))
  const kind = changed.endsWith('.gguf') ? 'bytes' : 'json'
  const folder = new MemoryFolder({ ...files, [changed]: mutate(files[changed]!, dice, kind) })
  const openPart = (name: string) => {
    if (!/^[^/\\:\0]+$/.test(name) || name === '.' || name === '..') throw new Error(`asked for the file ${name}`)
    return folder.open(name)
  }
  const ending = await endingOf(async () => {
    const model = await openModelParts(given, openPart, { limits })
    for (const { part, offsetBytes, lengthBytes } of model.tensors) {
      if (offsetBytes + lengthBytes > model.parts[part]!.source.sizeBytes)
        throw new Error('a tensor outside of its file')
    }
    await model.close()
  })
  if (folder.opened.length > 0) throw new Error(`left open: ${folder.opened.join(', ')}`)
  if (!/^(accepted|ERR_GPUNVME_(GGUF|SAFETENSORS|UNKNOWN|SPLIT|SHARD|PART))/.test(ending))
    throw new Error(`unexpected error: ${ending}`)
  return ending
}

testFuzzer(fuzzer('model-parts', open), 3000, ['accepted', /SPLIT/, /SHARD/])
