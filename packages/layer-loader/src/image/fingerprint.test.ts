import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { fingerprintOf } from './fingerprint.js'

test('fingerprintOf is the SHA-256 of the documented bytes, with tensors sorted by name', () => {
  const a = { name: 'a', dtype: 'F32', shape: [2, 3], offsetBytes: 0, lengthBytes: 24, sha256: '11'.repeat(32) }
  const b = { name: 'é', dtype: 'U8', shape: [], offsetBytes: 4096, lengthBytes: 1, sha256: '22'.repeat(32) }
  const bytes = Buffer.concat([
    Buffer.from('gpunvme model fingerprint 1\0'),
    Buffer.from('0100000000000000' + '61', 'hex'),
    Buffer.from('0300000000000000' + '463332', 'hex'),
    Buffer.from('0200000000000000' + '0200000000000000' + '0300000000000000', 'hex'),
    Buffer.from('1800000000000000' + '11'.repeat(32), 'hex'),
    Buffer.from('0200000000000000' + 'c3a9', 'hex'),
    Buffer.from('0200000000000000' + '5538', 'hex'),
    Buffer.from('0000000000000000', 'hex'),
    Buffer.from('0100000000000000' + '22'.repeat(32), 'hex'),
  ])
  const expected = createHash('sha256').update(bytes).digest('hex')
  expect(fingerprintOf([a, b])).toBe(expected)
  expect(fingerprintOf([b, a])).toBe(expected)
})
