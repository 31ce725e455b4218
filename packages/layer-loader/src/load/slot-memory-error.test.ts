import { expect, test } from 'vitest'
import { isExhausted } from './slot-memory-error.js'

test.each<[string, unknown, boolean]>([
  ['true for a RangeError of an allocation', new RangeError('Array buffer allocation failed'), true],
  ['true for ENOMEM', Object.assign(new Error('mmap'), { code: 'ENOMEM' }), true],
  ['true for EAGAIN, which RLIMIT_MEMLOCK causes', Object.assign(new Error('mmap'), { code: 'EAGAIN' }), true],
  ['false for an invalid request', new TypeError("alloc: only host memory is available, got 'gpu'"), false],
  ['false for another system error', Object.assign(new Error('ioctl'), { code: 'EIO' }), false],
  ['false for a coded error with its own next step', Object.assign(new Error(), { code: 'ERR_GPUNVME_X' }), false],
])('isExhausted is %s', (_, error, expected) => {
  expect(isExhausted(error)).toBe(expected)
})
