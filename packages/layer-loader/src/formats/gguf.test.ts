import { describe, expect, test } from 'vitest'
import {
  array,
  ascii,
  concat,
  entry,
  ggufHead,
  info,
  padTo,
  text,
  u32,
  u64,
  u8,
  zeros,
} from '../../test/formats/bytes.js'
import { memorySource, openModel, rangeSource } from './index.js'

describe('openModel of a GGUF', () => {
  /** The head of 24 bytes, 3 metadata entries, then the tensor table. */
  const bytes = concat(
    ggufHead(3, 3),
    entry('general.architecture', 8, text('llama')),
    entry('general.name', 8, text('two rows of fun')),
    entry('general.alignment', 4, u32(64)),
    info('output.weight', [2], 0, 128),
    info('token_embd.weight', [32, 3], 2, 0),
    info('blk.0.odd', [5], 77, 64),
  )

  test('returns tensors with absolute offsets, lengths and row-major shapes, sorted by offset', async () => {
    // The header ends at byte 24 + 45 + 47 + 33 + 45 + 57 + 41 = 292, so the data begins at 320.
    expect(bytes.byteLength).toBe(292)
    const source = memorySource(padTo(320 + 136, bytes))
    const model = await openModel(source)
    expect(model.parts).toEqual([{ source, headerBytes: 320 }])
    expect(model.tensors).toEqual([
      {
        name: 'token_embd.weight',
        dtype: 'Q4_0',
        shape: [3, 32],
        part: 0,
        offsetBytes: 320,
        lengthBytes: 54,
        opaque: false,
      },
      { name: 'blk.0.odd', dtype: 'type 77', shape: [5], part: 0, offsetBytes: 384, lengthBytes: 64, opaque: true },
      { name: 'output.weight', dtype: 'F32', shape: [2], part: 0, offsetBytes: 448, lengthBytes: 8, opaque: false },
    ])
  })

  test('returns its name, architecture, version and layers', async () => {
    const model = await openModel(memorySource(padTo(320 + 136, bytes)))
    expect(model).toMatchObject({
      format: 'gguf',
      formatVersion: 3,
      name: 'two rows of fun',
      architecture: 'llama',
    })
    expect(model.layers.map(({ name, lengthBytes }) => [name, lengthBytes])).toEqual([
      ['embedding', 54],
      ['layer 0', 64],
      ['output', 8],
    ])
  })

  test('a GGUF at another offset of a source has tensors aligned to the start of the GGUF', async () => {
    const shifted = memorySource(concat(zeros(7), padTo(320 + 136, bytes), zeros(9)))
    const model = await openModel(rangeSource(shifted, 7, 320 + 136))
    expect(model.tensors.map(({ offsetBytes }) => offsetBytes)).toEqual([320, 384, 448])
  })

  test('gives a last tensor of unknown type all bytes up to the end', async () => {
    const last = concat(ggufHead(1, 0), info('a', [1], 4, 0))
    const { tensors } = await openModel(memorySource(padTo(64 + 100, last)))
    expect(tensors).toMatchObject([{ dtype: 'Q4_2 (retired)', lengthBytes: 100, opaque: true }])
  })

  test('accepts one without tensors and data section', async () => {
    const model = await openModel(memorySource(concat(ggufHead(0, 1), entry('k', 0, u8(1)))))
    expect(model).toMatchObject({ parts: [{ headerBytes: 38 }], tensors: [], layers: [] })
  })
})

describe('GGUF metadata', () => {
  const valueOf = async (type: number, ...value: Uint8Array[]): Promise<unknown> => {
    const bytes = concat(ggufHead(0, 1), entry('k', type, ...value))
    return (await openModel(memorySource(bytes))).metadata.get('k')
  }

  test.each([
    [0, [0xff], 255],
    [1, [0xff], -1],
    [2, [0x34, 0x12], 0x1234],
    [3, [0xfe, 0xff], -2],
    [4, [0x78, 0x56, 0x34, 0x12], 0x12345678],
    [5, [0xff, 0xff, 0xff, 0xff], -1],
    [6, [0x00, 0x00, 0xc0, 0x3f], 1.5],
    [7, [0], false],
    [7, [1], true],
    [8, [3, 0, 0, 0, 0, 0, 0, 0, 0xe2, 0x82, 0xac], '€'],
    [8, [1, 0, 0, 0, 0, 0, 0, 0, 0xff], '\ufffd'],
    [10, [1, 0, 0, 0, 0, 0, 0x10, 0], 4503599627370497],
    [10, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], 18446744073709551615n],
    [11, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], -1],
    [12, [0, 0, 0, 0, 0, 0, 0xf8, 0x3f], 1.5],
  ])('decodes a value of type %i stored as %j as %s', async (type, bytes, value) => {
    expect(await valueOf(type, Uint8Array.from(bytes))).toBe(value)
  })

  test('keeps arrays of up to 1,024 items and summarises longer ones', async () => {
    expect(await valueOf(9, array(0, 1024), zeros(1024))).toEqual(Array.from({ length: 1024 }, () => 0))
    expect(await valueOf(9, array(0, 1025), zeros(1025))).toEqual({ arrayOf: 'uint8', count: 1025 })
    expect(await valueOf(9, array(8, 1025), zeros(8 * 1025))).toEqual({ arrayOf: 'string', count: 1025 })
    expect(await valueOf(9, array(9, 1025), zeros(12 * 1025))).toEqual({ arrayOf: 'array', count: 1025 })
  })

  test('keeps nested arrays', async () => {
    const value = await valueOf(9, array(9, 2), array(0, 2), u8(1), u8(2), array(8, 1), text('x'))
    expect(value).toEqual([[1, 2], ['x']])
  })

  test('metadata after summarised arrays is read correctly', async () => {
    // Longer than the window, so that it is skipped without being read.
    const long = entry('long', 9, array(4, 300_000), zeros(1_200_000))
    const words = entry('words', 9, array(8, 2000), ...Array.from({ length: 2000 }, () => text('w'.repeat(300))))
    const bytes = concat(ggufHead(0, 3), long, words, entry('after', 8, text('here')))
    const { metadata } = await openModel(memorySource(bytes))
    expect([...metadata]).toEqual([
      ['long', { arrayOf: 'uint32', count: 300_000 }],
      ['words', { arrayOf: 'string', count: 2000 }],
      ['after', 'here'],
    ])
  })

  test('keeps a byte order mark as a character of a key', async () => {
    const bytes = concat(ggufHead(0, 2), entry('\xef\xbb\xbfk', 0, u8(1)), entry('k', 0, u8(2)))
    const { metadata } = await openModel(memorySource(bytes))
    expect([...metadata]).toEqual([
      ['\ufeffk', 1],
      ['k', 2],
    ])
  })
})

describe('a vocabulary of a million tokens', () => {
  const count = 1_000_000
  const token = concat(u64(6), ascii('abcdef'))
  const tokens = new Uint8Array(count * token.byteLength)
  for (let index = 0; index < count; index++) tokens.set(token, index * token.byteLength)
  const bytes = concat(ggufHead(0, 1), entry('tokenizer.ggml.tokens', 9, array(8, count)), tokens)

  test('a vocabulary of a million tokens is read without reading bytes repeatedly', async () => {
    const memory = memorySource(bytes)
    let largestReadBytes = 0
    let readBytes = 0
    const watched = {
      ...memory,
      read: (offsetBytes: number, into: Uint8Array) => {
        largestReadBytes = Math.max(largestReadBytes, into.byteLength)
        readBytes += into.byteLength
        return memory.read(offsetBytes, into)
      },
    }
    const { metadata } = await openModel(watched)
    expect(metadata.get('tokenizer.ggml.tokens')).toEqual({ arrayOf: 'string', count })
    expect(largestReadBytes).toBeLessThanOrEqual(256 * 1024)
    // Windows may overlap by an entry. One read per entry would be far more than twice the bytes.
    expect(readBytes).toBeLessThan(2 * bytes.byteLength)
  })

  test('stops reading when the signal is aborted', async () => {
    const memory = memorySource(bytes)
    const controller = new AbortController()
    let reads = 0
    const source: typeof memory = {
      ...memory,
      read: (offsetBytes, into, options) => {
        if (++reads === 3) controller.abort(new Error('enough'))
        return memory.read(offsetBytes, into, options)
      },
    }
    await expect(openModel(source, { signal: controller.signal })).rejects.toThrow('enough')
    expect(reads).toBe(3)
  })
})
