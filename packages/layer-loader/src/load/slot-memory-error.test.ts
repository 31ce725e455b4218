import { expect, test } from 'vitest'
import { isExhausted } from './slot-memory-error.js'

test.each<[string, unknown, boolean]>([
  ['by V8 and by allocators', new RangeError('Array buffer allocation failed'), true],
  ['by the system', Object.assign(new Error('mmap'), { code: 'ENOMEM' }), true],
  ['by RLIMIT_MEMLOCK', Object.assign(new Error('mmap'), { code: 'EAGAIN' }), true],
  ['not: an invalid request', new TypeError("alloc: only host memory is available, got 'gpu'"), false],
  ['not: another system error', Object.assign(new Error('ioctl'), { code: 'EIO' }), false],
  ['not: a coded error with its own next step', Object.assign(new Error(), { code: 'ERR_GPUNVME_X' }), false],
])('memory is exhausted %s', (_, error, expected) => {
  expect(isExhausted(error)).toBe(expected)
})
