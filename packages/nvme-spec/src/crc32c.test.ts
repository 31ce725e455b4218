import { expect, test } from 'vitest'
import { crc32c } from './crc32c.js'

test.each([
  ['32 bytes of zeros', new Uint8Array(32), 0x8a9136aa],
  ['32 bytes of ones', new Uint8Array(32).fill(0xff), 0x62a8ab43],
  ['32 bytes from 00h up', Uint8Array.from({ length: 32 }, (_, index) => index), 0x46dd794e],
  ['32 bytes from 1fh down', Uint8Array.from({ length: 32 }, (_, index) => 31 - index), 0x113fdb5c],
])('%s have the CRC-32C of RFC 3720 appendix B.4', (_, bytes, expected) => {
  expect(~crc32c(~0, bytes) >>> 0).toBe(expected)
  expect(~crc32c(crc32c(~0, bytes.subarray(0, 5)), bytes.subarray(5)) >>> 0).toBe(expected)
})
