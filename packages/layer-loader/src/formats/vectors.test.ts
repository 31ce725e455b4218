import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { memorySource, openModel, openModelFile, rangeSource, type Model } from './index.js'

/** Returns the path of a test vector. The README beside them documents their writers and readers. */
const vector = (name: string): string => fileURLToPath(new URL(`../../test/formats/vectors/${name}`, import.meta.url))

/** Name, type, shape with the innermost dimension first, absolute offset, length in bytes. */
type GgufRow = readonly [name: string, dtype: string, shape: readonly number[], offset: number, length: number]

const expected = JSON.parse(readFileSync(vector('expected.json'), 'utf8')) as Record<string, readonly GgufRow[]>

const rowsOf = ({ tensors }: Model, part: number): GgufRow[] =>
  tensors
    .filter((tensor) => tensor.part === part)
    .map(({ name, dtype, shape, offsetBytes, lengthBytes }) => [
      name,
      dtype,
      shape.toReversed(),
      offsetBytes,
      lengthBytes,
    ])

const METADATA: readonly (readonly [string, unknown])[] = [
  ['general.architecture', 'llama'],
  ['general.name', 'vector'],
  ['v.u8', 200],
  ['v.i8', -100],
  ['v.u16', 60_000],
  ['v.i16', -30_000],
  ['v.u32', 4_000_000_000],
  ['v.i32', -2_000_000_000],
  ['v.u64', 2n ** 63n + 1n],
  ['v.i64', -(2n ** 62n)],
  ['v.f32', 0.5],
  ['v.f64', 0.1],
  ['v.bool', true],
  ['v.string', 'žluťoučký kůň'],
  ['v.strings', ['a', '', '€']],
  ['v.ints', [1, -2, 3]],
]

describe('files written by gguf-py are read identically to gguf-py:', () => {
  test.each(['plain.gguf', 'aligned.gguf'])(
    '%s has the same types, shapes, offsets, lengths and metadata',
    async (name) => {
      await using model = await openModelFile(vector(name))
      expect(rowsOf(model, 0)).toEqual(expected[name])
      for (const [key, value] of METADATA) expect([key, model.metadata.get(key)]).toEqual([key, value])
    },
  )

  test('a split model has the tensors of each part and the metadata of the first', async () => {
    const names = [1, 2, 3].map((part) => `split-0000${part}-of-00003.gguf`)
    await using model = await openModelFile(vector(names[1]!))
    expect(names.map((_, part) => rowsOf(model, part))).toEqual(names.map((name) => expected[name]))
    for (const [key, value] of METADATA) expect([key, model.metadata.get(key)]).toEqual([key, value])
  })

  test.each([1, 31, 512, 4097])('a model at byte %i of its source has the same tensors', async (base) => {
    const bytes = readFileSync(vector('aligned.gguf'))
    const around = memorySource(Buffer.concat([Buffer.alloc(base, 0xa5), bytes, Buffer.alloc(99, 0xa5)]))
    const model = await openModel(rangeSource(around, base, bytes.byteLength))
    expect(rowsOf(model, 0)).toEqual(expected['aligned.gguf'])
  })

  test('a big-endian file is rejected', async () => {
    await expect(openModelFile(vector('big-endian.gguf'))).rejects.toMatchObject({
      code: 'ERR_GPUNVME_GGUF_BIG_ENDIAN',
      positionBytes: 4,
    })
  })
})

test('a file written by the safetensors library is read identically to it', async () => {
  await using model = await openModelFile(vector('numpy.safetensors'))
  const rows = model.tensors.map(({ name, dtype, shape }) => [name, dtype, shape])
  expect(rows.toSorted()).toEqual(expected['numpy.safetensors']?.toSorted())
  expect([...model.metadata]).toEqual([['format', 'np']])
  const [embedding] = model.tensors.filter(({ name }) => name === 'model.embed_tokens.weight')
  const bytes = Buffer.alloc(embedding!.lengthBytes)
  await model.parts[0].source.read(embedding!.offsetBytes, bytes)
  expect(Array.from({ length: 12 }, (_, index) => bytes.readFloatLE(4 * index))).toEqual([...Array(12).keys()])
})
