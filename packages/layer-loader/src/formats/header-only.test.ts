import { describe, expect, test } from 'vitest'
import { concat, ggufHead, info, padTo, safetensors, shard, zeros } from '../../test/formats/bytes.js'
import { MemoryFolder } from '../../test/formats/memory-folder.js'
import { memorySource, openModel, openModelParts } from './index.js'

/** Ends at byte 24 + 45 + 41 = 110; the data would start at 128. The last tensor is of unknown type. */
const HEADER = concat(ggufHead(2, 0), info('output.weight', [2], 0, 0), info('blk.0.odd', [5], 344, 32))
const open = (bytes: Uint8Array, headerOnly = true) => openModel(memorySource(bytes), { headerOnly })

describe('a GGUF that ends after its header', () => {
  test.each([
    ['without padding', HEADER],
    ['with padding', padTo(128, HEADER)],
  ])('opens with headerOnly %s', async (_, bytes) => {
    const { parts, tensors } = await open(bytes)
    expect(parts[0]).toMatchObject({ headerBytes: 128, isHeaderOnly: true })
    expect(tensors).toMatchObject([
      { name: 'output.weight', offsetBytes: 128, lengthBytes: 8 },
      { name: 'blk.0.odd', dtype: 'type 344', offsetBytes: 160, lengthBytes: 0, opaque: true },
    ])
  })

  test('a truncated GGUF is rejected without headerOnly', async () => {
    await expect(open(HEADER, false)).rejects.toMatchObject({ code: 'ERR_GPUNVME_GGUF_TRUNCATED' })
  })

  test('a truncated GGUF is rejected if it has a part of its data or header', async () => {
    await expect(open(padTo(129, HEADER))).rejects.toMatchObject({ code: 'ERR_GPUNVME_GGUF_TRUNCATED' })
    await expect(open(HEADER.subarray(0, 100))).rejects.toMatchObject({ code: 'ERR_GPUNVME_GGUF_TRUNCATED' })
  })

  test('a truncated GGUF is rejected if its tensors overlap', async () => {
    const overlapping = concat(ggufHead(2, 0), info('a', [32], 0, 0), info('b', [1], 0, 32))
    await expect(open(overlapping)).rejects.toMatchObject({ code: 'ERR_GPUNVME_GGUF_OVERLAP' })
  })
})

describe('a safetensors file that ends after its header', () => {
  const header = safetensors('{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}')

  test('opens with headerOnly', async () => {
    const { parts, tensors } = await open(header)
    expect(parts[0]).toMatchObject({ headerBytes: header.byteLength, isHeaderOnly: true })
    expect(tensors).toMatchObject([{ name: 'a', offsetBytes: header.byteLength, lengthBytes: 8 }])
  })

  test('a truncated safetensors file is rejected without headerOnly, and with a part of its data', async () => {
    await expect(open(header, false)).rejects.toMatchObject({ code: 'ERR_GPUNVME_SAFETENSORS_TRUNCATED' })
    await expect(open(concat(header, zeros(3)))).rejects.toMatchObject({ code: 'ERR_GPUNVME_SAFETENSORS_TRUNCATED' })
  })

  test('a truncated safetensors file may be one shard of several', async () => {
    const whole = shard('b')
    const index = '{"weight_map":{"a":"m-00001-of-00002.safetensors","b":"m-00002-of-00002.safetensors"}}'
    const folder = new MemoryFolder({
      'm.safetensors.index.json': Buffer.from(index),
      'm-00001-of-00002.safetensors': header,
      'm-00002-of-00002.safetensors': whole,
    })
    const model = await openModelParts('m.safetensors.index.json', folder.open, { headerOnly: true })
    expect(model.parts.map(({ isHeaderOnly }) => isHeaderOnly)).toEqual([true, undefined])
    expect(model.tensors.map(({ name }) => name)).toEqual(['a', 'b'])
  })
})

test('a complete file is not header-only, with or without tensors', async () => {
  for (const bytes of [padTo(192, HEADER), ggufHead(0, 0), shard('a'), safetensors('{}')]) {
    expect((await open(bytes)).parts[0].isHeaderOnly).toBeUndefined()
  }
})
