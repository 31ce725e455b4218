import fc from 'fast-check'
import { expect, test } from 'vitest'
import { CommandIds } from './command-ids.js'

test('hands out each slot once until it is released', () => {
  const ids = new CommandIds(3)
  expect([ids.take(), ids.take(), ids.take(), ids.take()]).toEqual([0, 1, 2, -1])
  ids.release(1)
  expect(ids.take()).toBe(1)
  expect(ids.free).toBe(0)
})

test('credits a completion only while its command is outstanding', () => {
  const ids = new CommandIds(32)
  const slot = ids.take()
  const cid = ids.cidOf(slot)
  expect(ids.ownerOf(cid)).toBe(slot)
  ids.release(slot)
  expect(ids.ownerOf(cid)).toBe(-1)
})

test('does not credit a late completion to the command that has the slot now', () => {
  const ids = new CommandIds(1)
  const first = ids.cidOf(ids.take())
  ids.release(0)
  const second = ids.cidOf(ids.take())
  expect(second).not.toBe(first)
  expect(ids.ownerOf(first)).toBe(-1)
  expect(ids.ownerOf(second)).toBe(0)
})

test('never hands out a slot that was abandoned, and never credits it', () => {
  const ids = new CommandIds(2)
  const cid = ids.cidOf(ids.take())
  ids.abandon(0)
  expect([ids.take(), ids.take()]).toEqual([1, -1])
  expect(ids.ownerOf(cid)).toBe(-1)
})

test('rejects a number of slots that leaves no bits for generations', () => {
  expect(() => new CommandIds(4096)).toThrow(RangeError)
  expect(() => new CommandIds(0)).toThrow(RangeError)
})

test('identifiers are unique while outstanding, fit 16 bits, and are never FFFFh, over any history', () => {
  const history = fc.array(fc.boolean(), { maxLength: 2000 })
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4095 }), history, (slots, steps) => {
      const ids = new CommandIds(slots)
      const outstanding = new Map<number, number>()
      for (const take of steps) {
        if (take) {
          const slot = ids.take()
          if (slot < 0) continue
          const cid = ids.cidOf(slot)
          expect(cid).toBeLessThan(0xffff)
          expect(outstanding.has(cid)).toBe(false)
          outstanding.set(cid, slot)
        } else {
          const [oldest] = outstanding
          if (oldest === undefined) continue
          expect(ids.ownerOf(oldest[0])).toBe(oldest[1])
          outstanding.delete(oldest[0])
          ids.release(oldest[1])
        }
      }
    }),
    { numRuns: 50 },
  )
})
