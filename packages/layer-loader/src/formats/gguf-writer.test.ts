import { open, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { concat, entry, ggufHead, info, padTo, text, u32, u8 } from '../../test/formats/bytes.js'
import {
  GgufWriteError,
  memorySource,
  openModel,
  writeGguf,
  type GgufContent,
  type GgufSink,
  type GgufValue,
} from './index.js'

const path = join(scratch(), 'out.gguf')

/** Returns a sink that writes at most 7 bytes per call, like a file with short writes. */
function shortWriteSink(): GgufSink & { bytes: () => Uint8Array } {
  const taken: Uint8Array[] = []
  return {
    write(bytes) {
      taken.push(bytes.slice(0, 7))
      return Promise.resolve({ bytesWritten: Math.min(7, bytes.byteLength) })
    },
    bytes: () => concat(...taken),
  }
}

const tensor = (
  name: string,
  dtype: string,
  shape: number[],
  ...data: Uint8Array[]
): GgufContent['tensors'][number] => ({
  name,
  dtype,
  shape,
  data,
})

describe('writeGguf', () => {
  test('writes the documented bytes', async () => {
    const metadata = new Map<string, GgufValue>([
      ['s', 'é'],
      ['b', true],
    ])
    const tensors = [
      tensor('x', 'I8', [3, 1], Uint8Array.of(1), Uint8Array.of(2, 3)),
      tensor('y', 'I8', [1], Uint8Array.of(4)),
    ]
    const sink = shortWriteSink()
    expect(await writeGguf(sink, { metadata, tensors })).toEqual({ sizeBytes: 160 + 33 })
    const header = concat(
      ggufHead(2, 2),
      entry('s', 8, text('\xc3\xa9')),
      entry('b', 7, u8(1)),
      info('x', [1, 3], 24, 0),
      info('y', [1], 24, 32),
    )
    const expected = padTo(160 + 33, padTo(160, header).slice())
    // The header ends at byte 24 + 23 + 14 + 41 + 33 = 135, so the data begins at 160.
    expected.set([1, 2, 3], 160)
    expected.set([4], 160 + 32)
    expect(sink.bytes()).toEqual(expected)
  })

  test('writes a file that openModel reads with the same metadata and tensors', async () => {
    const content: GgufContent = {
      metadata: new Map<string, GgufValue>([
        ['general.name', 'round trip'],
        ['u8', { type: 'uint8', value: 255 }],
        ['i16', { type: 'int16', value: -32768 }],
        ['u64', { type: 'uint64', value: 2n ** 64n - 1n }],
        ['f64', { type: 'float64', value: 0.1 }],
        ['strings', { arrayOf: 'string', items: ['a', '', '€'] }],
        ['bools', { arrayOf: 'bool', items: [true, false] }],
      ]),
      tensors: [
        tensor('blk.0.w', 'Q8_0', [2, 64], new Uint8Array(136).fill(7)),
        tensor('output.weight', 'F32', [5], new Uint8Array(20).fill(9)),
      ],
      alignment: 4096,
    }
    const { sizeBytes } = await writeGguf(path, content)
    const bytes = await readFile(path)
    const model = await openModel(memorySource(bytes))
    expect(sizeBytes).toBe(bytes.byteLength)
    expect([...model.metadata]).toEqual([
      ['general.name', 'round trip'],
      ['u8', 255],
      ['i16', -32768],
      ['u64', 2n ** 64n - 1n],
      ['f64', 0.1],
      ['strings', ['a', '', '€']],
      ['bools', [true, false]],
      ['general.alignment', 4096],
    ])
    expect(model.tensors).toEqual([
      { name: 'blk.0.w', dtype: 'Q8_0', shape: [2, 64], part: 0, offsetBytes: 4096, lengthBytes: 136, opaque: false },
      { name: 'output.weight', dtype: 'F32', shape: [5], part: 0, offsetBytes: 8192, lengthBytes: 20, opaque: false },
    ])
    expect(bytes.subarray(4096, 4096 + 136).every((byte) => byte === 7)).toBe(true)
    expect(bytes.subarray(8192).every((byte) => byte === 9)).toBe(true)
  })

  test('supports asynchronous data', async () => {
    async function* data(): AsyncGenerator<Uint8Array> {
      yield Uint8Array.of(1)
      await Promise.resolve()
      yield Uint8Array.of(2)
    }
    const sink = shortWriteSink()
    await writeGguf(sink, { metadata: new Map(), tensors: [{ name: 'x', dtype: 'I8', shape: [2], data: data() }] })
    expect([...sink.bytes().subarray(64)]).toEqual([1, 2])
  })

  test('writes to a file handle', async () => {
    const other = join(scratch(), 'handle.gguf')
    const handle = await open(other, 'w')
    await writeGguf(handle, { metadata: new Map(), tensors: [] })
    await handle.close()
    expect(new Uint8Array(await readFile(other))).toEqual(new Uint8Array(padTo(32, concat(ggufHead(0, 0)))))
  })
})

describe('writeGguf fails', () => {
  test.each([
    ['fewer', Uint8Array.of(1, 2)],
    ['more', Uint8Array.of(1, 2, 3, 4)],
  ])('writeGguf fails for %s bytes than the shape requires, and keeps the old file', async (kind, data) => {
    const place = scratch()
    const target = join(place, 'model.gguf')
    await writeFile(target, 'the old file')
    const write = writeGguf(target, { metadata: new Map(), tensors: [tensor('x', 'I8', [3], data)] })
    await expect(write).rejects.toThrow(`Cannot write tensor "x": its data has ${kind} bytes than its shape requires`)
    await expect(write).rejects.toBeInstanceOf(GgufWriteError)
    await expect(write).rejects.toMatchObject({ expectedBytes: 3, deliveredBytes: data.byteLength })
    expect(await readdir(place)).toEqual(['model.gguf'])
    expect(await readFile(target, 'utf8')).toBe('the old file')
  })

  test.each<[string, Partial<GgufContent>]>([
    ['an alignment of 48', { alignment: 48 }],
    ['an alignment of 1/2', { alignment: 0.5 }],
    ['general.alignment among the metadata', { metadata: new Map([['general.alignment', 'x']]) }],
    ['256 as uint8', { metadata: new Map([['k', { type: 'uint8', value: 256 }]]) }],
    ['-1 as uint64', { metadata: new Map([['k', { type: 'uint64', value: -1 }]]) }],
    ['1.5 as int32', { metadata: new Map([['k', { type: 'int32', value: 1.5 }]]) }],
    ['a key of 65,536 bytes', { metadata: new Map([['k'.repeat(65_536), 'x']]) }],
    ['an empty key', { metadata: new Map([['', 'x']]) }],
    ['a retired type', { tensors: [tensor('x', 'Q4_2', [32])] }],
    ['rows that are not whole blocks', { tensors: [tensor('x', 'Q4_0', [2, 16])] }],
    ['an empty shape', { tensors: [tensor('x', 'F32', [0])] }],
    ['five dimensions', { tensors: [tensor('x', 'F32', [1, 1, 1, 1, 1])] }],
    ['a name of 64 bytes', { tensors: [tensor('é'.repeat(32), 'F32', [1])] }],
    ['the same name twice', { tensors: [tensor('x', 'F32', [1]), tensor('x', 'F32', [1])] }],
  ])('writeGguf fails for %s without writing', async (_, content) => {
    const sink = shortWriteSink()
    const write = writeGguf(sink, { metadata: new Map(), tensors: [], ...content })
    // A TypeError for a wrong type, a RangeError for a value out of range.
    await expect(write).rejects.toSatisfy((error) => error instanceof TypeError || error instanceof RangeError)
    expect(sink.bytes().byteLength).toBe(0)
  })
})

test('writeGguf writes general.alignment if it is not the default', async () => {
  const sink = shortWriteSink()
  await writeGguf(sink, { metadata: new Map(), tensors: [], alignment: 64 })
  const expected = concat(ggufHead(0, 1), entry('general.alignment', 4, u32(64)))
  expect(sink.bytes()).toEqual(padTo(64, expected))
})
