import { endingOf, fuzzer, testFuzzer } from '../../../../test/fuzz/fuzz.js'
import { mutate, type Dice } from '../../../../test/fuzz/mutator.js'
import { Catalogue, openModel, type ByteSource, type FormatLimits, type Model } from '../../src/formats/index.js'
import { array, concat, entry, ggufHead, info, padTo, safetensors, text, u32, u8 } from '../formats/bytes.js'

const MIB = 1024 * 1024

/** Small limits, so that a reader that ignores one is detected. */
const limits: Partial<FormatLimits> = {
  maxGgufHeaderBytes: MIB,
  maxSafetensorsHeaderBytes: MIB,
  maxEntryBytes: 64 * 1024,
  maxMetadataBytes: MIB,
}

const validGguf = padTo(
  512,
  concat(
    ggufHead(4, 5),
    entry('general.architecture', 8, text('llama')),
    entry('general.alignment', 4, u32(32)),
    entry('flag', 7, u8(1)),
    entry('tokens', 9, array(8, 2), text('a'), text('b')),
    entry('nested', 9, array(9, 1), array(4, 1), u32(5)),
    info('token_embd.weight', [4, 2], 0, 0),
    info('blk.0.w', [4], 0, 32),
    info('blk.1.ffn_up_exps.weight', [2, 2, 2], 0, 64),
    info('blk.2.w', [4], 77, 96),
  ),
)

const validSafetensors = safetensors(
  '{"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},' +
    '"model.layers.0.b":{"dtype":"F4","shape":[2,3],"data_offsets":[8,11]},"c\\u00e9":{"dtype":"NEW","shape":[],"data_offsets":[11,12]}}',
  12,
)

/** Returns a source that counts the bytes read. Bytes after `bytes` are zero, so that any length can be read. */
function sourceOf(bytes: Uint8Array, sizeBytes: number): ByteSource & { askedBytes: number } {
  const source = {
    name: 'hostile',
    sizeBytes,
    askedBytes: 0,
    read(offsetBytes: number, into: Uint8Array) {
      if (offsetBytes + into.byteLength > sizeBytes) throw new RangeError('a read beyond the end')
      source.askedBytes += into.byteLength
      into.fill(0)
      if (offsetBytes < bytes.byteLength) into.set(bytes.subarray(offsetBytes, offsetBytes + into.byteLength))
      return Promise.resolve()
    },
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
  return source
}

/** Checks that an accepted file has offsets inside the file, and extents for all its tensors. */
async function open(bytes: Uint8Array, dice: Dice): Promise<string> {
  const source = sourceOf(bytes, dice.chance(0.5) ? bytes.byteLength : 2 ** 50)
  const ending = await endingOf(async () => {
    const model = await openModel(source, { limits })
    for (const { offsetBytes, lengthBytes } of model.tensors) {
      if (
        !(
          offsetBytes >= model.parts[0].headerBytes &&
          lengthBytes >= 0 &&
          offsetBytes + lengthBytes <= source.sizeBytes
        )
      )
        throw new Error(`a tensor outside of the data: ${lengthBytes} bytes from ${offsetBytes}`)
    }
    await takeExtents(model)
  })
  // Every byte read is buffered: the header, one window after it, and the prefix.
  if (source.askedBytes >= 2 * MIB) throw new Error(`read ${source.askedBytes} bytes`)
  if (!/^(accepted|ERR_GPUNVME_(GGUF|SAFETENSORS|UNKNOWN|MODEL_IN_PARTS))/.test(ending))
    throw new Error(`unexpected error: ${ending}`)
  return ending
}

/** Tensors of unknown types and uneven experts are rejected individually. */
async function takeExtents(model: Model): Promise<void> {
  const catalogue = new Catalogue(model)
  for (const layer of catalogue.layers.slice(0, 50)) {
    await endingOf(() => catalogue.layer(layer))
    await endingOf(() => {
      for (const expert of catalogue.experts(layer).slice(0, 50)) catalogue.expert(layer, expert)
    })
  }
  for (const { name } of model.tensors.slice(0, 50)) await endingOf(() => catalogue.tensor(name))
}

testFuzzer(
  fuzzer('gguf', (dice) => open(mutate(validGguf, dice), dice)),
  3000,
  ['accepted', 'ERR_GPUNVME_GGUF_LIMIT'],
)
testFuzzer(
  fuzzer('safetensors', (dice) => open(mutate(validSafetensors, dice, 'json'), dice)),
  3000,
  ['accepted', 'ERR_GPUNVME_SAFETENSORS_LIMIT'],
)
