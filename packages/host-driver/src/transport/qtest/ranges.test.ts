import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AddressRanges } from './ranges.js'

describe('address ranges', () => {
  test('the first place that fits is given, at a multiple of the alignment', () => {
    const ranges = new AddressRanges(0x1000, 0x9000)
    expect(ranges.take(0x1000, 0x1000)).toBe(0x1000)
    expect(ranges.take(0x1000, 0x4000)).toBe(0x4000)
    // What was passed over for the alignment is free still.
    expect(ranges.take(0x2000, 0x1000)).toBe(0x2000)
    expect(ranges.left).toEqual({ bytes: 0x5000, largestBytes: 0x5000 })
  })

  test('nothing is given where no place is large enough', () => {
    const ranges = new AddressRanges(0x1000, 0x3000)
    expect(ranges.take(0x4000, 1)).toBeUndefined()
    expect(ranges.take(0x3000, 0x2000)).toBeUndefined()
    expect(ranges.take(0x3000, 0x1000)).toBe(0x1000)
    expect(ranges.take(1, 1)).toBeUndefined()
  })

  test.each([
    ['the one before', [0, 1, 2]],
    ['the one behind', [2, 1, 0]],
    ['both', [0, 2, 1]],
    ['neither, at first', [1, 0, 2]],
  ])('what comes back grows together with its neighbours: %s', (_, order) => {
    const ranges = new AddressRanges(0, 0x3000)
    const places = [0, 1, 2].map(() => ranges.take(0x1000, 0x1000)!)
    for (const index of order) ranges.give(places[index]!, 0x1000)
    expect(ranges.left).toEqual({ bytes: 0x3000, largestBytes: 0x3000 })
    expect(ranges.take(0x3000, 0x1000)).toBe(0)
  })

  test('whatever is taken and given, no two overlap, and in the end all is there in one piece', () => {
    const steps = fc.array(
      fc.record({ pages: fc.integer({ min: 1, max: 9 }), align: fc.integer({ min: 0, max: 4 }), give: fc.nat() }),
    )
    fc.assert(
      fc.property(steps, (all) => {
        const ranges = new AddressRanges(3, 64)
        const taken: { start: number; length: number }[] = []
        for (const { pages, align, give } of all) {
          const start = ranges.take(pages, 2 ** align)
          if (start === undefined) {
            const [old] = taken.splice(give % Math.max(1, taken.length), 1)
            if (old) ranges.give(old.start, old.length)
            continue
          }
          expect(start % 2 ** align).toBe(0)
          expect(start >= 3 && start + pages <= 67).toBe(true)
          expect(taken.filter((other) => start < other.start + other.length && other.start < start + pages)).toEqual([])
          taken.push({ start, length: pages })
        }
        expect(ranges.left.bytes).toBe(64 - taken.reduce((sum, { length }) => sum + length, 0))
        for (const { start, length } of taken) ranges.give(start, length)
        expect(ranges.left).toEqual({ bytes: 64, largestBytes: 64 })
      }),
    )
  })
})
