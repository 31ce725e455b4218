import { expect, test } from 'vitest'
import { firstFit, oneAfterTheOther, startsIn } from './room.js'

const START = 2_097_152
const MIB = 1_048_576

test('oneAfterTheOther places extents at multiples of 4096 up to the end of a hole', () => {
  const allocate = oneAfterTheOther({ offsetBytes: START, lengthBytes: 12_288 })
  expect([1, 0, 4097, 1].map(allocate)).toEqual([START, START + 4096, START + 4096, undefined])
})

test('firstFit places each extent in the first hole that has room, including holes skipped before', () => {
  const allocate = firstFit([
    { offsetBytes: START, lengthBytes: 8192 },
    { offsetBytes: START + MIB, lengthBytes: 16_384 },
  ])
  expect([12_288, 4096, 4096, 4096, 4096].map(allocate)).toEqual([
    START + MIB,
    START,
    START + 4096,
    START + MIB + 12_288,
    undefined,
  ])
})

test('firstFit places an extent at the next multiple of 4096 after the previous one', () => {
  expect([1, 4097, 1].map(firstFit([{ offsetBytes: START, lengthBytes: 16_384 }]))).toEqual([
    START,
    START + 4096,
    START + 12_288,
  ])
})

test('firstFit places an empty extent without any hole', () => {
  expect(firstFit([])(0)).toBe(START)
})

test('startsIn prefers the first multiple of 1 MiB in a hole to the start of the hole', () => {
  const hole = { offsetBytes: START + 4096, lengthBytes: 2 * MIB }
  expect(startsIn(hole)).toEqual([{ offsetBytes: START + MIB, lengthBytes: MIB + 4096 }, hole])
  expect(startsIn({ ...hole, lengthBytes: MIB - 4096 })).toHaveLength(1)
  expect(startsIn({ offsetBytes: START, lengthBytes: 4096 })).toHaveLength(1)
})
