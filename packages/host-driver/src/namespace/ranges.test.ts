import { expect, test } from 'vitest'
import { groupRanges, splitRange } from './ranges.js'

test('splits a range into pieces of at most the given number of blocks', () => {
  expect([...splitRange({ slba: 10, blocks: 7 }, 3)]).toEqual([
    { slba: 10, blocks: 3 },
    { slba: 13, blocks: 3 },
    { slba: 16, blocks: 1 },
  ])
})

test('groups ranges by number, length, and total number of blocks', () => {
  const group = (limits: Parameters<typeof groupRanges>[1]) =>
    [
      ...groupRanges(
        [
          { slba: 0, blocks: 5 },
          { slba: 100, blocks: 2 },
        ],
        limits,
      ),
    ].map((ranges) => ranges.map(({ slba, blocks }) => `${slba}+${blocks}`).join(' '))
  expect(group({ ranges: 256, rangeBlocks: 256, blocks: Infinity })).toEqual(['0+5 100+2'])
  expect(group({ ranges: 1, rangeBlocks: 256, blocks: Infinity })).toEqual(['0+5', '100+2'])
  expect(group({ ranges: 2, rangeBlocks: 2, blocks: Infinity })).toEqual(['0+2 2+2', '4+1 100+2'])
  expect(group({ ranges: 256, rangeBlocks: 256, blocks: 3 })).toEqual(['0+3', '3+2 100+1', '101+1'])
})
