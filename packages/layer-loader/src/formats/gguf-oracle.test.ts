import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { GGMLQuantizationType, gguf } from '@huggingface/gguf'
import fc from 'fast-check'
import { ggufMetadata } from 'hyllama'
import { describe, expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { GGML_TYPES, openModelFile, writeDemoModel, writeGguf, type GgufValue } from './index.js'

/** Result of a reader. */
interface Reading {
  readonly metadata: ReadonlyMap<string, unknown>
  /** Shape with the outermost dimension first; offset from the start of the file. */
  readonly tensors: readonly (readonly [name: string, type: number, shape: readonly number[], offset: number])[]
}

const directory = scratch()

async function readByUs(path: string): Promise<Reading> {
  await using model = await openModelFile(path)
  const idOf = new Map(GGML_TYPES.map(({ id, name }) => [name, id]))
  const tensors = model.tensors.map(({ name, dtype, shape, offsetBytes }) => {
    return [name, idOf.get(dtype)!, shape, offsetBytes] as const
  })
  return { metadata: model.metadata, tensors }
}

/** Converts the tensors of both readers, which have the dimensions of GGUF and offsets from the start of the data. */
const convert = (
  infos: readonly { name: string; shape: readonly bigint[]; offset: bigint }[],
  typeOf: (index: number) => number,
  dataStart: number,
): Reading['tensors'] =>
  infos.map(({ name, shape, offset }, index) => {
    return [name, typeOf(index), shape.map(Number).reverse(), dataStart + Number(offset)] as const
  })

async function readByHuggingFace(path: string): Promise<Reading> {
  const { metadata, tensorInfos, tensorDataOffset } = await gguf(path, { allowLocalFile: true })
  const typeOf = (index: number): number => tensorInfos[index]!.dtype
  const tensors = convert(tensorInfos, typeOf, Number(tensorDataOffset))
  return { metadata: new Map(Object.entries(metadata)), tensors }
}

/** hyllama does not return the start of the data, so that it is an argument here. */
async function readByHyllama(path: string, dataStart: number): Promise<Reading> {
  const bytes = await readFile(path)
  const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength)
  const { metadata, tensorInfos } = ggufMetadata(buffer)
  const tensors = convert(tensorInfos, (index) => tensorInfos[index]!.type, dataStart)
  return { metadata: new Map(Object.entries(metadata)), tensors }
}

/** Compares our result with both readers, which return 64-bit integers as bigint even if a number is exact. */
async function compare(path: string): Promise<void> {
  const ours = await readByUs(path)
  const theirs = await readByHuggingFace(path)
  expect(ours.tensors).toEqual(theirs.tensors)
  const first = theirs.tensors[0]
  const relative = (await gguf(path, { allowLocalFile: true })).tensorInfos[0]?.offset ?? 0n
  const second = await readByHyllama(path, first === undefined ? 0 : first[3] - Number(relative))
  expect(ours.tensors).toEqual(second.tensors)
  for (const [key, value] of ours.metadata) {
    expect([key, asNumbers(theirs.metadata.get(key))]).toEqual([key, value])
    expect([key, asNumbers(second.metadata.get(key))]).toEqual([key, value])
  }
}

function asNumbers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asNumbers)
  return typeof value === 'bigint' && Number.isSafeInteger(Number(value)) ? Number(value) : value
}

const integer = (type: 'uint8' | 'int8' | 'uint16' | 'int16' | 'uint32' | 'int32', min: number, max: number) =>
  fc.integer({ min, max }).map((value): GgufValue => ({ type, value }))

// hyllama reads each byte of a string as a character, so that the readers agree on ASCII only.
const word = fc.string({ maxLength: 20, unit: 'binary-ascii' })

const value: fc.Arbitrary<GgufValue> = fc.oneof(
  word,
  fc.boolean(),
  integer('uint8', 0, 2 ** 8 - 1),
  integer('int8', -(2 ** 7), 2 ** 7 - 1),
  integer('uint16', 0, 2 ** 16 - 1),
  integer('int16', -(2 ** 15), 2 ** 15 - 1),
  integer('uint32', 0, 2 ** 32 - 1),
  integer('int32', -(2 ** 31), 2 ** 31 - 1),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((value): GgufValue => ({ type: 'uint64', value })),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value): GgufValue => ({ type: 'int64', value })),
  fc.float({ noNaN: true }).map((value): GgufValue => ({ type: 'float32', value })),
  fc.double({ noNaN: true }).map((value): GgufValue => ({ type: 'float64', value })),
  fc.array(word, { maxLength: 5 }).map((items): GgufValue => ({ arrayOf: 'string', items })),
  fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 5 }).map((items): GgufValue => ({ arrayOf: 'uint8', items })),
)

const tensor = fc.record({
  dtype: fc.constantFrom(...GGML_TYPES.map(({ name }) => name)),
  outer: fc.array(fc.integer({ min: 1, max: 4 }), { maxLength: 3 }),
  blocks: fc.integer({ min: 1, max: 3 }),
})

describe('openModelFile, @huggingface/gguf and hyllama agree', () => {
  test('parsers agree on the demo model', async () => {
    const path = join(directory, 'demo.gguf')
    await writeDemoModel(path, { layers: 2, targetBytes: 2_000_000 })
    await compare(path)
  })

  test('parsers agree on a tensor of every type with an alignment of 4096', async () => {
    const path = join(directory, 'types.gguf')
    const tensors = GGML_TYPES.map(({ name, blockElements, blockBytes }) => ({
      name: `a ${name}`,
      dtype: name,
      shape: [3, 2, 2 * blockElements],
      data: [new Uint8Array(12 * blockBytes)],
    }))
    await writeGguf(path, { metadata: new Map(), tensors, alignment: 4096 })
    await compare(path)
  })

  test('parsers agree on random metadata, tensors and alignments', async () => {
    const path = join(directory, 'any.gguf')
    const metadata = fc.dictionary(fc.stringMatching(/^m\.[a-z]{1,8}$/), value, { maxKeys: 8 })
    const alignment = fc.constantFrom(8, 16, 32, 64, 128, 4096)
    const property = fc.asyncProperty(
      metadata,
      fc.array(tensor, { minLength: 1, maxLength: 8 }),
      alignment,
      async (entries, rows, align) => {
        const tensors = rows.map(({ dtype, outer, blocks }, index) => {
          const { blockElements, blockBytes } = GGML_TYPES.find(({ name }) => name === dtype)!
          const rowsOfIt = outer.reduce((product, length) => product * length, 1)
          const data = [new Uint8Array(rowsOfIt * blocks * blockBytes)]
          return { name: `t${index}`, dtype, shape: [...outer, blocks * blockElements], data }
        })
        await writeGguf(path, { metadata: new Map(Object.entries(entries)), tensors, alignment: align })
        await compare(path)
      },
    )
    await fc.assert(property, { numRuns: 60 })
  }, 120_000)

  test('parsers agree on the names and numbers of all types', () => {
    const ours = GGML_TYPES.map(({ id, name }) => [id, name])
    expect(ours.filter(([id, name]) => GGMLQuantizationType[Number(id)] !== name)).toEqual([])
    const theirs = Object.values(GGMLQuantizationType).filter((id) => typeof id === 'number')
    expect(theirs.filter((id) => !ours.some(([ourId]) => ourId === id))).toEqual([])
  })
})
