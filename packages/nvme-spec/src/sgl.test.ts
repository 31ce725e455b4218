import { describe, expect, it } from 'vitest'
import { fromHex, toHex } from '../test/bytes.js'
import { describeRows, places, wordOf } from '../test/rows.js'
import {
  decodeSglDescriptor,
  formatSglDescriptor,
  KeyedSglDataBlock,
  SGL1_OFFSET,
  SGL_DESCRIPTOR_BYTES,
  SGL_SUB_TYPE,
  SGL_TYPE,
  SglBitBucket,
  SglDataBlock,
  SglDescriptor,
  SglLastSegment,
  SglSegment,
  TransportSglDataBlock,
} from './sgl.js'

describe('SGL descriptors (Base 2.1 §4.3.2)', () => {
  it.each([
    // Figures 114 and 117 of Base 2.1, 119 to 123 of Base 2.2: symbol, first byte, length
    [
      SglDescriptor,
      [
        ['DTS', 0, 15],
        ['SGLID', 15, 1],
      ],
    ],
    [
      SglDataBlock,
      [
        ['ADDR', 0, 8],
        ['LEN', 8, 4],
        ['SGLID', 15, 1],
      ],
    ],
    [
      SglBitBucket,
      [
        ['LEN', 8, 4],
        ['SGLID', 15, 1],
      ],
    ],
    [
      SglSegment,
      [
        ['ADDR', 0, 8],
        ['LEN', 8, 4],
        ['SGLID', 15, 1],
      ],
    ],
    [
      SglLastSegment,
      [
        ['ADDR', 0, 8],
        ['LEN', 8, 4],
        ['SGLID', 15, 1],
      ],
    ],
    [
      TransportSglDataBlock,
      [
        ['LEN', 8, 4],
        ['SGLID', 15, 1],
      ],
    ],
  ] as const)('$name has the fields of its figure', (descriptor, figure) => {
    expect(places(descriptor)).toEqual(figure)
    expect(descriptor.bytes).toBe(16)
    expect(SGL_DESCRIPTOR_BYTES).toBe(16)
  })

  it('a Keyed SGL Data Block has a length of three bytes (10:08) and a key in bytes 14:11', () => {
    const block = KeyedSglDataBlock.view(fromHex('00 70 00 00  01 00 00 00  33 22 11 78  56 34 12 4f'))
    expect({ ADDR: block.ADDR, LEN: block.LEN, KEY: block.KEY, SGLID: block.SGLID }).toEqual({
      ADDR: 0x1_0000_7000,
      LEN: 0x11_2233,
      KEY: 0x1234_5678,
      SGLID: 0x4f,
    })
    expect(() => KeyedSglDataBlock.create({ LEN: 16 * 1024 * 1024 })).toThrow('from 0 to 16777215')
  })

  describeRows([[wordOf(SglDescriptor, 'SGLID'), { SGLDST: 0x0fn, SGLDT: 0xf0n }]])

  it('types are 0h to 5h and Fh, sub types 0h and 1h', () => {
    expect(SGL_TYPE.values).toEqual({
      DATA_BLOCK: 0,
      BIT_BUCKET: 1,
      SEGMENT: 2,
      LAST_SEGMENT: 3,
      KEYED_DATA_BLOCK: 4,
      TRANSPORT_DATA_BLOCK: 5,
      VENDOR: 15,
    })
    expect(SGL_SUB_TYPE.values).toEqual({ ADDRESS: 0, OFFSET: 1 })
  })

  it('SGL1 is bytes 39:24 of a submission queue entry', () => {
    expect(SGL1_OFFSET).toBe(24)
  })

  it.each([
    ['00 60 45 23 01 00 00 00  00 10 00 00 00 00 00 00', 'DATA_BLOCK', { ADDR: 0x1_2345_6000, LEN: 4096 }],
    ['00 00 00 00 00 00 00 00  00 08 00 00 00 00 00 10', 'BIT_BUCKET', { LEN: 2048 }],
    ['00 10 00 00 00 00 00 00  30 00 00 00 00 00 00 20', 'SEGMENT', { ADDR: 0x1000, LEN: 48 }],
    ['00 20 00 00 00 00 00 00  10 00 00 00 00 00 00 30', 'LAST_SEGMENT', { ADDR: 0x2000, LEN: 16 }],
    ['00 70 00 00 00 00 00 00  00 10 00 78 56 34 12 40', 'KEYED_DATA_BLOCK', { LEN: 4096, KEY: 0x1234_5678 }],
    ['00 00 00 00 00 00 00 00  00 02 00 00 00 00 00 5a', 'TRANSPORT_DATA_BLOCK', { LEN: 512 }],
    ['01 02 03 00 00 00 00 00  00 00 00 00 00 00 00 f0', 'VENDOR', { SGLID: { SGLDT: 15, SGLDST: 0 } }],
    ['01 02 03 00 00 00 00 00  00 00 00 00 00 00 00 61', 'RESERVED', { SGLID: { SGLDT: 6, SGLDST: 1 } }],
  ])('%s is decoded as %s', (hex, type, fields) => {
    const decoded = decodeSglDescriptor(fromHex(`a5 ${hex}`), 1)
    expect(decoded.type).toBe(type)
    expect(decoded.fields).toMatchObject(fields)
    expect(decoded.fields.reserved).toBeUndefined()
  })

  it('keeps and shows bits that the type reserves', () => {
    const bucket = fromHex('01 00 00 00 00 00 00 00  00 02 00 00 00 00 00 10')
    expect(decodeSglDescriptor(bucket).fields.reserved).toEqual([{ offset: 0, bytes: Uint8Array.of(1) }])
    expect(formatSglDescriptor(bucket)).toBe(
      'SGL Bit Bucket descriptor LEN=512 SGLID={ SGLDST=ADDRESS SGLDT=BIT_BUCKET } reserved[0]=01',
    )
  })

  it.each([
    [SglDataBlock, '00'],
    [SglBitBucket, '10'],
    [SglSegment, '20'],
    [SglLastSegment, '30'],
    [KeyedSglDataBlock, '40'],
    [TransportSglDataBlock, '50'],
  ] as const)('$name is created with its type; explicit rows of SGLID take precedence', (descriptor, sglid) => {
    const stored = (SGLID?: { SGLDT?: number; SGLDST?: number } | number) =>
      toHex(descriptor.create({ LEN: 512, ...(SGLID !== undefined && { SGLID }) }).data, 15, 1)
    expect(stored()).toBe(sglid)
    expect(stored({ SGLDST: 0xa })).toBe(`${sglid[0]}a`)
    expect(stored({ SGLDT: 0xf })).toBe('f0')
    expect(stored(0x61)).toBe('61')
  })

  it('is formatted as one line', () => {
    expect(formatSglDescriptor(fromHex('00 60 45 23 01 00 00 00  00 10 00 00 00 00 00 00'))).toBe(
      'SGL Data Block descriptor ADDR=0x123456000 LEN=4096',
    )
    expect(formatSglDescriptor(fromHex('07 00 00 00 00 00 00 00  00 00 00 00 00 00 00 fa'))).toBe(
      'SGL descriptor DTS=070000000000000000000000000000 SGLID={ SGLDST=0xa SGLDT=VENDOR }',
    )
  })

  it('requires 16 bytes', () => {
    expect(() => decodeSglDescriptor(fromHex('00 00'))).toThrow(
      'SGL descriptor needs 16 bytes at offset 0, got 2 (Base 2.1 §4.3.2)',
    )
  })
})
