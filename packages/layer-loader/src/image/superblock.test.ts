import { crc32 } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { encodeSuperblock, SuperblockError, SUPERBLOCKS } from './superblock.js'

const superblock = {
  generation: 0x0102_0304_0506,
  imageId: '000102030405060708090a0b0c0d0e0f',
  directory: { offsetBytes: 0x30_0000, lengthBytes: 0x123, crc32: 0xdead_beef },
  usedEndBytes: 0x30_1000,
  writtenEndBytes: 0x1_0000_5000,
  writer: 'a writer',
}

/** docs/image-format-1.md, "Superblock", byte by byte. */
const literal = (): Uint8Array => {
  const bytes = new Uint8Array(4096)
  const put = (offset: number, ...values: number[]) => bytes.set(values, offset)
  put(0, 0x47, 0x50, 0x55, 0x4e, 0x56, 0x4d, 0x45, 0x00)
  put(8, 1, 0, 0, 0)
  put(12, 0x00, 0x10, 0, 0)
  put(16, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01, 0, 0)
  put(24, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
  put(44, 1, 0, 0, 0)
  put(48, 0, 0, 0x10, 0, 0, 0, 0, 0)
  put(56, 0x00, 0x10, 0, 0)
  put(60, 0, 0, 0x10, 0)
  put(64, 0, 0, 0x30, 0, 0, 0, 0, 0)
  put(72, 0x23, 0x01, 0, 0)
  put(76, 0xef, 0xbe, 0xad, 0xde)
  put(80, 0x00, 0x10, 0x30, 0, 0, 0, 0, 0)
  put(88, 0x00, 0x50, 0, 0, 1, 0, 0, 0)
  put(128, 0x61, 0x20, 0x77, 0x72, 0x69, 0x74, 0x65, 0x72)
  return seal(bytes)
}

function seal(bytes: Uint8Array): Uint8Array {
  new DataView(bytes.buffer).setUint32(4092, crc32(bytes.subarray(0, 4092)), true)
  return bytes
}

const errorOf = (bytes: Uint8Array): unknown => {
  try {
    return SUPERBLOCKS.decode('B', bytes)
  } catch (error) {
    return error
  }
}

test('copy B is encoded as documented', () => {
  expect(Buffer.from(encodeSuperblock('B', superblock)).equals(literal())).toBe(true)
  expect(SUPERBLOCKS.decode('B', literal())).toEqual(superblock)
})

test('SUPERBLOCKS.decode uses USED_END if an older writer did not set WRITTEN_END', () => {
  for (const [optional, written] of [
    [0, 0x55],
    [1, 0],
  ] as const) {
    const bytes = literal()
    bytes[44] = optional
    bytes.fill(written, 88, 96)
    expect(SUPERBLOCKS.decode('B', seal(bytes)).writtenEndBytes).toBe(superblock.usedEndBytes)
  }
})

test('SUPERBLOCKS.decode detects any flipped bit', () => {
  const bytes = literal()
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    bytes[bit >> 3]! ^= 1 << (bit & 7)
    expect(() => SUPERBLOCKS.decode('B', bytes)).toThrow(SuperblockError)
    bytes[bit >> 3]! ^= 1 << (bit & 7)
  }
})

describe('SUPERBLOCKS.decode rejects an invalid field with a matching checksum:', () => {
  test.each([
    ['LENGTH', 12, [0x00, 0x20]],
    ['GENERATION', 16, [0, 0, 0, 0, 0, 0]],
    ['GENERATION', 16, [1, 0, 0, 0, 0, 0, 0x20, 0]],
    ['SELF', 48, [0, 0, 0]],
    ['ALIGNMENT', 56, [0x00, 0x02]],
    ['CHUNK', 60, [0, 0, 0x20]],
    ['DIRECTORY_OFFSET', 64, [0, 0, 0x10]],
    ['DIRECTORY_OFFSET', 64, [0, 0x02, 0x30]],
    ['DIRECTORY_OFFSET', 64, [0, 0, 0x30, 0, 0, 0, 0x20, 0]],
    ['DIRECTORY_LENGTH', 72, [0, 0]],
    ['DIRECTORY_LENGTH', 72, [0x01, 0x10]],
    ['DIRECTORY_LENGTH', 72, [0, 0, 0, 0xff]],
    ['USED_END', 80, [0, 0, 0x20, 0]],
    ['USED_END', 80, [0, 0, 0, 0, 0, 0, 0, 0xff]],
    ['WRITER', 128, [0x1b]],
  ] as const)('%s at byte %i', (field, offset, values) => {
    const bytes = literal()
    bytes.set(values, offset)
    const error = errorOf(seal(bytes))
    expect(error).toBeInstanceOf(SuperblockError)
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_IMAGE_SUPERBLOCK', copy: 'B', field })
  })

  test.each([
    ['CRC', 4092, [0xef, 0xbe, 0xad, 0xde], /^0x[0-9a-f]{8}$/, '0xdeadbeef'],
    ['MAGIC', 0, [0x48], '4750554e564d4500', '4850554e564d4500'],
    ['SELF', 48, [0, 0x10, 0], '1048576', '4096'],
    ['CHUNK', 60, [0, 0, 0x20], '1048576', '2097152'],
    ['DIRECTORY_OFFSET', 64, [0, 0x02, 0x30], 'a multiple of 4096 of at least 2097152', '3146240'],
    ['GENERATION', 16, [0, 0, 0, 0, 0, 0], '1 to 2^53 - 1', '0'],
  ] as const)('%s has its expected and actual value in the same base', (field, offset, values, expected, got) => {
    const bytes = literal()
    bytes.set(values, offset)
    const error = errorOf(field === 'CRC' ? bytes : seal(bytes))
    expect(error).toMatchObject({
      field,
      expected: typeof expected === 'string' ? expected : (expect.stringMatching(expected) as string),
      got,
    })
  })
})

describe('SUPERBLOCKS.decode distinguishes an unsupported image from a damaged one:', () => {
  test.each([
    ['it has version 2', 8, 2],
    ['it requires features 0x00000004', 40, 4],
  ])('%s', (message, offset, value) => {
    const bytes = literal()
    bytes[offset] = value
    expect(errorOf(bytes)).toMatchObject({ field: 'CRC' })
    const error = errorOf(seal(bytes))
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_IMAGE_UNSUPPORTED' })
    expect((error as Error).message).toContain(message)
  })

  test('optional features and reserved bytes are ignored', () => {
    const bytes = literal()
    bytes[44] = 1
    bytes[2000] = 1
    expect(SUPERBLOCKS.decode('B', seal(bytes))).toEqual(superblock)
  })
})
