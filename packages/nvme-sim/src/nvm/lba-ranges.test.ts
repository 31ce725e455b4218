import fc from 'fast-check'
import { expect, it } from 'vitest'
import { LbaRanges } from './lba-ranges.js'

const step = fc.record({ adds: fc.boolean(), first: fc.nat(60), count: fc.integer({ min: 1, max: 12 }) })
const nothing = fc.record({ adds: fc.constant(false), first: fc.nat(60), count: fc.constant(0) })

it('ranges that are added and removed in any order hold what a set of single blocks holds', () => {
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

it('its list gives first block and number of blocks of each range, in order and those that touch as one', () => {
  const ranges = new LbaRanges()
  for (const [first, count] of [[100, 8], [0, 2], [104, 10], [2, 1]] as const) ranges.add(first, count) // oxfmt-ignore
  expect(ranges.list()).toEqual([0, 3, 100, 14])
})

it('a range overlaps where any of its blocks is in the set, and not where it only touches', () => {
  const ranges = new LbaRanges()
  ranges.add(10, 5)
  expect([ranges.overlaps(5, 5), ranges.overlaps(5, 6), ranges.overlaps(14, 1), ranges.overlaps(15, 9)]).toEqual([
    false,
    true,
    true,
    false,
  ])
})

it('every other one of 400,000 blocks is added, asked for and removed with work that does not grow with the set', () => {
  // With work that grows with it these are 10^11 steps, which no time-out of a test is long enough for.
  const ranges = new LbaRanges()
  const marked = Array.from({ length: 200_000 }, (_, i) => 2 * i)
  for (const lba of marked) ranges.add(lba, 1)
  expect(marked.filter((lba) => ranges.overlaps(lba, 1) && !ranges.overlaps(lba + 1, 1))).toHaveLength(200_000)
  for (const lba of marked.reverse()) ranges.remove(lba, 1)
  expect(ranges.isEmpty).toBe(true)
})
