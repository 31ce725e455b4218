import { expect, test } from 'vitest'
import { scatterEntries } from './scatter-entries.js'

const lengths = { sourceBytes: 1000, destinationBytes: 2000 }

test('encodes source, destination, length, and the sum of the previous lengths', () => {
  const pieces = [
    { sourceOffset: 0, destinationOffset: 1500, lengthBytes: 500 },
    { sourceOffset: 990, destinationOffset: 1500, lengthBytes: 0 },
    { sourceOffset: 993, destinationOffset: 3, lengthBytes: 7 },
    { sourceOffset: 1, destinationOffset: 10, lengthBytes: 999 },
  ]
  expect([...scatterEntries(pieces, lengths)].map(Number)).toEqual([
    ...[0, 1500, 500, 0],
    ...[990, 1500, 0, 500],
    ...[993, 3, 7, 500],
    ...[1, 10, 999, 507],
  ])
  expect(scatterEntries([], lengths)).toHaveLength(0)
})

test.each([
  [
    { sourceOffset: 994, destinationOffset: 0, lengthBytes: 7 },
    'pieces[0].sourceOffset: expected an integer from 0 to 993, got 994',
  ],
  [
    { sourceOffset: 0, destinationOffset: 1994, lengthBytes: 7 },
    'pieces[0].destinationOffset: expected an integer from 0 to 1993, got 1994',
  ],
  [
    { sourceOffset: -1, destinationOffset: 0, lengthBytes: 7 },
    'pieces[0].sourceOffset: expected an integer from 0 to 993, got -1',
  ],
  [
    { sourceOffset: 0, destinationOffset: 0.5, lengthBytes: 7 },
    'pieces[0].destinationOffset: expected an integer from 0 to 1993, got 0.5',
  ],
  [
    { sourceOffset: 0, destinationOffset: 0, lengthBytes: -7 },
    'pieces[0].lengthBytes: expected an integer from 0 to 1000, got -7',
  ],
  [
    { sourceOffset: 0, destinationOffset: 0, lengthBytes: 1001 },
    'pieces[0].lengthBytes: expected an integer from 0 to 1000, got 1001',
  ],
])('rejects a piece outside either memory: %j', (piece, message) => {
  expect(() => scatterEntries([piece], lengths)).toThrow(new RangeError(message))
})

test('rejects overlapping destinations', () => {
  const piece = (destinationOffset: number, lengthBytes: number) => ({
    sourceOffset: 0,
    destinationOffset,
    lengthBytes,
  })
  expect(() => scatterEntries([piece(100, 50), piece(0, 101)], lengths)).toThrow(
    new RangeError('pieces: expected destinations that do not overlap, got 101 bytes at 0 and more at 100'),
  )
  expect(scatterEntries([piece(100, 50), piece(0, 100), piece(120, 0), piece(150, 1)], lengths)).toHaveLength(16)
})
