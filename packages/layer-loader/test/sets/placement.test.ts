import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { patternOf, wholeWeights } from '../../src/sets/pattern.js'
import { Placement } from '../../src/sets/placement.js'

const weights = fc
  .array(fc.integer({ min: 1, max: 32 }), { minLength: 2, maxLength: 16 })
  .filter((list) => list.reduce((sum, weight) => sum + weight, 0) <= 256)
const UNIT = 4096
const placementOf = (list: readonly number[], unitBytes = UNIT) =>
  new Placement(list.length, patternOf(list), unitBytes)

describe('the pattern of a stripe', () => {
  test.each([
    [
      [1, 1],
      [0, 1],
    ],
    [
      [2, 1],
      [0, 0, 1],
    ],
    [
      [1, 3],
      [1, 1, 0, 1],
    ],
    [
      [1, 1, 1],
      [0, 1, 2],
    ],
  ])('the pattern of a stripe of weights %j is %j', (given, expected) => {
    expect([...patternOf(given)]).toEqual(expected)
  })

  test('gives each member its share to within one unit after any number of units', () => {
    fc.assert(
      fc.property(weights, (list) => {
        const pattern = patternOf(list)
        const given = list.map(() => 0)
        for (const [slot, member] of pattern.entries()) {
          given[member]!++
          for (const [each, count] of given.entries()) {
            const due = ((slot + 1) * list[each]!) / pattern.length
            if (Math.abs(count - due) >= 1) return false
          }
        }
        return given.every((count, member) => count === list[member])
      }),
    )
  })
})

describe('the placement of a stripe', () => {
  test('maps every offset to one place on one member, and offsetOf inverts placeOf', () => {
    fc.assert(
      fc.property(weights, fc.integer({ min: 1, max: 600 }), (list, units) => {
        const placement = placementOf(list)
        const taken = new Set<string>()
        for (let unit = 0; unit < units; unit++) {
          const offset = unit * UNIT + ((unit * 977) % UNIT)
          const place = placement.placeOf(offset)
          expect(placement.offsetOf(place)).toBe(offset)
          taken.add(`${place.member} ${Math.floor(place.offsetBytes / UNIT)}`)
        }
        expect(taken.size).toBe(units)
      }),
      { numRuns: 50 },
    )
  })

  test('splits a transfer into contiguous parts of members that cover it exactly', () => {
    const range = fc.tuple(fc.nat(300), fc.integer({ min: 1, max: 300 }))
    fc.assert(
      fc.property(weights, range, fc.nat(1000), (list, [first, count], memoryBytes) => {
        const placement = placementOf(list, 4 * 512)
        const whole = { offsetBytes: first * 512, lengthBytes: count * 512, memoryBytes }
        let at = whole.offsetBytes
        for (const { member, transfer } of placement.split(whole)) {
          expect(transfer.memoryBytes - memoryBytes).toBe(at - whole.offsetBytes)
          for (let done = 0; done < transfer.lengthBytes; done += 512) {
            expect(placement.placeOf(at + done)).toEqual({ member, offsetBytes: transfer.offsetBytes + done })
          }
          at += transfer.lengthBytes
        }
        expect(at).toBe(whole.offsetBytes + whole.lengthBytes)
      }),
      { numRuns: 50 },
    )
  })

  test('a stripe has capacity until its first member is full; sharesOf returns the used bytes', () => {
    const sizes = fc.array(fc.integer({ min: 0, max: 200 }), { minLength: 16, maxLength: 16 })
    fc.assert(
      fc.property(weights, sizes, (list, all) => {
        const placement = placementOf(list)
        const memberUnits = all.slice(0, list.length)
        const capacity = placement.capacityOver(memberUnits.map((units) => units * UNIT + 511))
        const used = list.map(() => 0)
        for (let at = 0; at < capacity; at += UNIT) {
          const { member, offsetBytes } = placement.placeOf(at)
          expect(offsetBytes / UNIT).toBe(used[member]!++)
        }
        expect(used.map((units) => units * UNIT)).toEqual(placement.sharesOf(capacity))
        const next = placement.placeOf(capacity)
        expect(used.every((units, member) => units <= memberUnits[member]!)).toBe(true)
        expect(next.offsetBytes / UNIT).toBe(memberUnits[next.member])
      }),
    )
  })
})

describe('wholeWeights', () => {
  test.each([
    [
      [3.3, 3.3],
      [1, 1],
    ],
    [
      [2000, 1000],
      [2, 1],
    ],
    [
      [3, 1, 1],
      [3, 1, 1],
    ],
    [
      [1000, 1],
      [64, 1],
    ],
  ])('wholeWeights of rates %j are %j', (rates, expected) => {
    expect(wholeWeights(rates)).toEqual(expected)
  })

  test('use at least 90 percent of the total rate for rates within a factor of 8', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 1, max: 8, noNaN: true }), { minLength: 2, maxLength: 6 }), (rates) => {
        const list = wholeWeights(rates)
        const total = rates.reduce((sum, rate) => sum + rate, 0)
        const slowest = Math.max(...list.map((weight, member) => weight / rates[member]!))
        expect(list.reduce((sum, weight) => sum + weight, 0) / slowest / total).toBeGreaterThan(0.9)
      }),
    )
  })

  test.each([[[1, 0]], [[1, NaN]], [[1, -1]], [[Infinity, 1]]])('reject rates %j', (rates) => {
    expect(() => wholeWeights(rates)).toThrow('expected a number above 0 for each member')
  })
})
