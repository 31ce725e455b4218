import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AddressSpace } from './address-space.js'

test('takes the lowest range that fits', () => {
  const space = new AddressSpace([{ start: 0x1000, lengthBytes: 0x4000 }])
  expect(space.takeAligned(0x800, 0x1000)).toBe(0x1000)
  expect(space.takeAligned(0x800, 0x1000)).toBe(0x2000)
  expect(space.takeAligned(0x800, 0x100)).toBe(0x1800)
  expect(space.takeAligned(0x2800, 1)).toBe(0x2800)
  expect(space.takeAligned(1, 1)).toBeUndefined()
})

test('merges a freed range with free neighbours on both sides', () => {
  const space = new AddressSpace([{ start: 0, lengthBytes: 300 }])
  const [first, second, third] = [space.takeAligned(100, 1), space.takeAligned(100, 1), space.takeAligned(100, 1)]
  space.give(first!)
  space.give(third!)
  expect(space.freeRanges).toEqual([
    { start: 0, lengthBytes: 100 },
    { start: 200, lengthBytes: 100 },
  ])
  space.give(second!)
  expect(space.freeRanges).toEqual([{ start: 0, lengthBytes: 300 }])
  expect(space.isEmpty).toBe(true)
})

test('does not take a start outside the offered free range', () => {
  const space = new AddressSpace([{ start: 10, lengthBytes: 10 }])
  expect(space.take(5, () => 9)).toBeUndefined()
  expect(space.take(5, () => 16)).toBeUndefined()
  expect(space.freeRanges).toEqual([{ start: 10, lengthBytes: 10 }])
})

test('rejects freeing a range that is not taken, or twice', () => {
  const space = new AddressSpace([{ start: 0, lengthBytes: 10 }])
  space.take(5, (from) => from)
  expect(() => {
    space.give(3)
  }).toThrow(TypeError)
  space.give(0)
  expect(() => {
    space.give(0)
  }).toThrow(TypeError)
})

test.each([
  [[{ start: 0, lengthBytes: 0 }]],
  [[{ start: -1, lengthBytes: 2 }]],
  [[{ start: 0, lengthBytes: 2 ** 53 }]],
])('rejects ranges %j', (ranges) => {
  expect(() => new AddressSpace(ranges)).toThrow(RangeError)
})

test('rejects overlapping ranges and invalid lengths', () => {
  const overlapping = [
    { start: 0, lengthBytes: 10 },
    { start: 9, lengthBytes: 10 },
  ]
  expect(() => new AddressSpace(overlapping)).toThrow(RangeError)
  const space = new AddressSpace([{ start: 0, lengthBytes: 10 }])
  for (const lengthBytes of [0, -1, 1.5, NaN]) expect(() => space.takeAligned(lengthBytes, 1)).toThrow(RangeError)
})

const ranges = [
  { start: 0x100, lengthBytes: 0x300 },
  { start: 0x1000, lengthBytes: 0x1000 },
]

test('ranges neither overlap nor leak over any sequence of takes and frees', () => {
  const step = fc.record({
    lengthBytes: fc.integer({ min: 1, max: 0x600 }),
    align: fc.integer({ min: 0, max: 9 }),
    /** Index of a taken range to free instead; ignored if there is none. */
    give: fc.option(fc.nat(20)),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const space = new AddressSpace(ranges)
      // The model: for each taken byte, the start of its range.
      const owner = new Map<number, number>()
      const taken = new Map<number, number>()
      for (const { lengthBytes, align, give } of steps) {
        if (give !== null) {
          const start = [...taken.keys()][give]
          if (start === undefined) continue
          space.give(start)
          for (let byte = start; byte < start + taken.get(start)!; byte++) owner.delete(byte)
          taken.delete(start)
          continue
        }
        const isFree = (byte: number) =>
          !owner.has(byte) && ranges.some((range) => byte >= range.start && byte < range.start + range.lengthBytes)
        const fits = (start: number) => {
          for (let byte = start; byte < start + lengthBytes; byte++) if (!isFree(byte)) return false
          return true
        }
        const at = space.takeAligned(lengthBytes, 2 ** align)
        let expected: number | undefined
        for (let start = 0; start < 0x2000 && expected === undefined; start += 2 ** align)
          if (fits(start)) expected = start
        expect(at).toBe(expected)
        if (at === undefined) continue
        taken.set(at, lengthBytes)
        for (let byte = at; byte < at + lengthBytes; byte++) owner.set(byte, at)
      }
      for (const start of taken.keys()) space.give(start)
      expect(space.freeRanges).toEqual(ranges)
    }),
    { numRuns: 60 },
  )
})
