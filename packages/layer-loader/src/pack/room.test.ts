import { expect, test } from 'vitest'
import { firstFit, oneAfterTheOther, startsIn } from './room.js'

const START = 2_097_152
const MIB = 1_048_576

test('one extent after the other takes whole 4096s of a hole, to its last byte', () => {
  const room = oneAfterTheOther({ offsetBytes: START, lengthBytes: 12_288 })
  expect([1, 0, 4097, 1].map(room)).toEqual([START, START + 4096, START + 4096, undefined])
})

test('each extent goes to the first hole that has room for it, also one that was passed over before', () => {
  const room = firstFit([
    { offsetBytes: START, lengthBytes: 8192 },
    { offsetBytes: START + MIB, lengthBytes: 16_384 },
  ])
  expect([12_288, 4096, 4096, 4096, 4096].map(room)).toEqual([
    START + MIB,
    START,
    START + 4096,
    START + MIB + 12_288,
    undefined,
  ])
})

test('an extent begins at the end of the one before it, rounded up to a multiple of 4096', () => {
  expect([1, 4097, 1].map(firstFit([{ offsetBytes: START, lengthBytes: 16_384 }]))).toEqual([
    START,
    START + 4096,
    START + 12_288,
  ])
})

test('an extent without bytes finds a place in no room at all', () => {
  expect(firstFit([])(0)).toBe(START)
})

test('a model begins at a whole MiB of a hole before it begins where the hole does', () => {
  const hole = { offsetBytes: START + 4096, lengthBytes: 2 * MIB }
  expect(startsIn(hole)).toEqual([{ offsetBytes: START + MIB, lengthBytes: MIB + 4096 }, hole])
  expect(startsIn({ ...hole, lengthBytes: MIB - 4096 })).toHaveLength(1)
  expect(startsIn({ offsetBytes: START, lengthBytes: 4096 })).toHaveLength(1)
})
