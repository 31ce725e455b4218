import fc from 'fast-check'
import { expect, test } from 'vitest'
import { AddressSpace } from './address-space.js'

test('the lowest place that fits is taken', () => {
  const space = new AddressSpace([{ start: 0x1000, lengthBytes: 0x4000 }])
  expect(space.takeAligned(0x800, 0x1000)).toBe(0x1000)
  expect(space.takeAligned(0x800, 0x1000)).toBe(0x2000)
  expect(space.takeAligned(0x800, 0x100)).toBe(0x1800)
  expect(space.takeAligned(0x2800, 1)).toBe(0x2800)
  expect(space.takeAligned(1, 1)).toBeUndefined()
})

test('what is given back joins its free neighbours on both sides', () => {
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

test('a place outside the free range that was offered is not taken', () => {
  const space = new AddressSpace([{ start: 10, lengthBytes: 10 }])
  expect(space.take(5, () => 9)).toBeUndefined()
  expect(space.take(5, () => 16)).toBeUndefined()
  expect(space.freeRanges).toEqual([{ start: 10, lengthBytes: 10 }])
})

test('giving back what is not taken, or twice, is refused', () => {
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
])('ranges %j are refused', (ranges) => {
  expect(() => new AddressSpace(ranges)).toThrow(RangeError)
})

test('ranges that overlap are refused, and lengths that are none', () => {
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

test('whatever is taken and given back, nothing overlaps, nothing is lost, and all comes back', () => {
  const step = fc.record({
    lengthBytes: fc.integer({ min: 1, max: 0x600 }),
    align: fc.integer({ min: 0, max: 9 }),
    /** Which of those taken is given back instead; none where there is no such one. */
    give: fc.option(fc.nat(20)),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const space = new AddressSpace(ranges)
      // The model: who has each byte.
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
