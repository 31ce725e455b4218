import fc from 'fast-check'
import { expect, it } from 'vitest'
import { LbaRanges } from './lba-ranges.js'

const step = fc.record({ adds: fc.boolean(), first: fc.nat(60), count: fc.integer({ min: 1, max: 12 }) })
const nothing = fc.record({ adds: fc.constant(false), first: fc.nat(60), count: fc.constant(0) })

it('contains the same blocks as a set of single blocks after any additions and removals', () => {
  const property = fc.property(
    fc.array(fc.oneof({ weight: 9, arbitrary: step }, nothing), { maxLength: 40 }),
    (steps) => {
      const ranges = new LbaRanges()
      const blocks = new Set<number>()
      for (const { adds, first, count } of steps) {
        if (adds) ranges.add(first, count)
        else ranges.remove(first, count)
        for (let lba = first; lba < first + count; lba++) {
          if (adds) blocks.add(lba)
          else blocks.delete(lba)
        }
        for (let lba = 0; lba < 80; lba++) expect(ranges.overlaps(lba, 1)).toBe(blocks.has(lba))
        expect(ranges.isEmpty).toBe(blocks.size === 0)
        expect(ranges.count).toBe(blocks.size)
        const within = [...blocks].filter((lba) => lba >= 20 && lba < 50)
        expect(ranges.countIn(20, 30)).toBe(within.length)
      }
      ranges.clear()
      expect([ranges.isEmpty, ranges.count]).toEqual([true, 0])
    },
  )
  fc.assert(property, { numRuns: 200 })
})

it('list() returns start and length of each range, in order, with adjacent ranges merged', () => {
  const ranges = new LbaRanges()
  for (const [first, count] of [[100, 8], [0, 2], [104, 10], [2, 1]] as const) ranges.add(first, count) // oxfmt-ignore
  expect(ranges.list()).toEqual([0, 3, 100, 14])
})

it('overlaps() is true if any block of the range is included, not if the ranges are only adjacent', () => {
  const ranges = new LbaRanges()
  ranges.add(10, 5)
  expect([ranges.overlaps(5, 5), ranges.overlaps(5, 6), ranges.overlaps(14, 1), ranges.overlaps(15, 9)]).toEqual([
    false,
    true,
    true,
    false,
  ])
})

it('adds, finds and removes 200,000 separate blocks in time', () => {
  // With linear operations, this would be 10^11 steps and exceed the timeout of the test.
  const ranges = new LbaRanges()
  const marked = Array.from({ length: 200_000 }, (_, i) => 2 * i)
  for (const lba of marked) ranges.add(lba, 1)
  expect(marked.filter((lba) => ranges.overlaps(lba, 1) && !ranges.overlaps(lba + 1, 1))).toHaveLength(200_000)
  for (const lba of marked.reverse()) ranges.remove(lba, 1)
  expect(ranges.isEmpty).toBe(true)
})
