import { expect, test } from 'vitest'
import { RangeSums } from './range-sums.js'

const ranges = [
  { memoryBytes: 0, lengthBytes: 100 },
  { memoryBytes: 100, lengthBytes: 100 },
  { memoryBytes: 200, lengthBytes: 40 },
  { memoryBytes: 250, lengthBytes: 40 },
  { memoryBytes: 290, lengthBytes: 80 },
]

test.each([
  ['equal ranges up to a shorter one', 0, 400, [100, 240, 3]],
  ['ranges that end in the piece', 0, 239, [100, 200, 2]],
  ['one range', 100, 100, [100, 100, 1]],
  ['ranges before a gap', 200, 400, [40, 40, 1]],
  ['ranges before a longer one', 250, 400, [40, 40, 1]],
  ['no range: the piece begins inside of one', 50, 400, [1, 0, 0]],
  ['no range: the first does not end in the piece', 0, 99, [100, 0, 0]],
])('a piece completes %s', (_, memoryBytes, lengthBytes, expected) => {
  const { chunkBytes, summedBytes, into } = new RangeSums(ranges).partOf(memoryBytes, lengthBytes)
  expect([chunkBytes, summedBytes, into.length]).toEqual(expected)
})

test('checksums are recorded when their piece has been read', () => {
  const sums = new RangeSums(ranges)
  const part = sums.partOf(100, 140)
  part.into.set([7, 8])
  expect(sums.crc32s).toEqual(Array(5).fill(undefined))
  part.done()
  expect(sums.crc32s).toEqual([undefined, 7, 8, undefined, undefined])
})
