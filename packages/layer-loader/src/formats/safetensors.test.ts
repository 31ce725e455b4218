import { describe, expect, test } from 'vitest'
import { safetensors } from '../../test/formats/bytes.js'
import { memorySource, openModel } from './index.js'

describe('openModel of a safetensors file', () => {
  const header =
    '{"__metadata__":{"format":"pt","caf\\u00e9":"\\"x\\""},' +
    '"model.norm.weight":{"dtype":"BF16","shape":[3],"data_offsets":[10,16]},' +
    '"model.layers.0.w":{"dtype":"F32","shape":[2,1],"data_offsets":[2,10]},' +
    '"model.embed_tokens.weight":{"dtype":"F9_NEW","shape":[7,7],"data_offsets":[0,2]}}'

  test('returns tensors with absolute offsets, lengths and shapes, sorted by offset', async () => {
    const source = memorySource(safetensors(header, 16))
    const model = await openModel(source)
    const start = 8 + header.length
    expect(model.parts).toEqual([{ source, headerBytes: start }])
    expect(model.tensors).toEqual([
      {
        name: 'model.embed_tokens.weight',
        dtype: 'F9_NEW',
        shape: [7, 7],
        part: 0,
        offsetBytes: start,
        lengthBytes: 2,
        opaque: true,
      },
      {
        name: 'model.layers.0.w',
        dtype: 'F32',
        shape: [2, 1],
        part: 0,
        offsetBytes: start + 2,
        lengthBytes: 8,
        opaque: false,
      },
      {
        name: 'model.norm.weight',
        dtype: 'BF16',
        shape: [3],
        part: 0,
        offsetBytes: start + 10,
        lengthBytes: 6,
        opaque: false,
      },
    ])
    expect(model.layers.map(({ name }) => name)).toEqual(['embedding', 'layer 0', 'output'])
  })

  test('returns its metadata without version, name and architecture', async () => {
    const model = await openModel(memorySource(safetensors(header, 16)))
    expect(model).toMatchObject({ format: 'safetensors', formatVersion: 0, name: undefined, architecture: undefined })
    expect([...model.metadata]).toEqual([
      ['format', 'pt'],
      ['café', '"x"'],
    ])
  })

  test.each([
    ['BOOL', 1],
    ['U8', 1],
    ['I8', 1],
    ['F8_E4M3', 1],
    ['F8_E4M3FNUZ', 1],
    ['F8_E5M2', 1],
    ['F8_E5M2FNUZ', 1],
    ['F8_E8M0', 1],
    ['U16', 2],
    ['I16', 2],
    ['F16', 2],
    ['BF16', 2],
    ['U32', 4],
    ['I32', 4],
    ['F32', 4],
    ['U64', 8],
    ['I64', 8],
    ['F64', 8],
    ['C64', 8],
  ])('expects %s to have %i bytes per element', async (dtype, bytes) => {
    const tensor = (end: number): string => `{"a":{"dtype":"${dtype}","shape":[3],"data_offsets":[0,${end}]}}`
    const { tensors } = await openModel(memorySource(safetensors(tensor(3 * bytes), 3 * bytes)))
    expect(tensors).toMatchObject([{ lengthBytes: 3 * bytes, opaque: false }])
    const wrong = safetensors(tensor(3 * bytes + 1), 3 * bytes + 1)
    await expect(openModel(memorySource(wrong))).rejects.toMatchObject({ code: 'ERR_GPUNVME_SAFETENSORS_LENGTH' })
  })

  test('supports a read window that is shorter than the header', async () => {
    const names = Array.from({ length: 100 }, (_, index) => `model.layers.${index}.weight`)
    const entries = names.map((name, at) => `"${name}":{"dtype":"U8","shape":[1],"data_offsets":[${at},${at + 1}]}`)
    const source = memorySource(safetensors(`{${entries.join(', ')}}`, 100))
    const { tensors } = await openModel(source, { limits: { maxEntryBytes: 100 } })
    expect(tensors.map(({ name }) => name)).toEqual(names)
  })
})
