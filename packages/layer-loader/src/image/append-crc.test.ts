import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { appendCrc } from './append-crc.js'

test('appendCrc of two parts of 123456789 is the check value of CRC-32/ISO-HDLC', () => {
  expect(appendCrc(crc32(Buffer.from('12345')), crc32(Buffer.from('6789')), 4)).toBe(0xcbf4_3926)
})

test('appendCrc of parts of any length equals the CRC-32 of zlib for the whole', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 300 }), (first, second) => {
      expect(appendCrc(crc32(first), crc32(second), second.length)).toBe(crc32(Buffer.concat([first, second])))
    }),
  )
})

test('appendCrc supports parts longer than 2^32 bits', () => {
  const mebibyte = Buffer.alloc(1 << 20)
  let whole = crc32(Buffer.from('a'))
  let zeros = 0
  for (let index = 0; index < 513; index++) {
    whole = crc32(mebibyte, whole)
    zeros = crc32(mebibyte, zeros)
  }
  expect(appendCrc(crc32(Buffer.from('a')), zeros, 513 << 20)).toBe(whole)
}, 60_000)
