import { expect, test } from 'vitest'
import { cidOf, cidSlotBits, generationOfCid, MOST_IN_FLIGHT, slotOfCid } from './command-ids.js'

test.each([
  [1, 1],
  [2, 2],
  [3, 2],
  [4, 3],
  [7, 3],
  [8, 4],
  [255, 8],
  [256, 9],
  [4095, 12],
])('%i slots take %i bits: one number more than there are slots', (slots, bits) => {
  expect(cidSlotBits(slots)).toBe(bits)
})

test.each([
  [0, 0, 8, 0x0000],
  [0, 5, 8, 0x0005],
  [1, 5, 8, 0x0105],
  [255, 254, 8, 0xfffe],
  [256, 5, 8, 0x0005],
  [0xffff, 5, 8, 0xff05],
  [3, 0, 1, 0x0006],
  [0x8001, 4094, 12, 0x1ffe],
])('generation %i of slot %i, which has %i bits, is CID %i', (generation, slot, slotBits, cid) => {
  expect(cidOf(generation, slot, slotBits)).toBe(cid)
  expect(slotOfCid(cid, slotBits)).toBe(slot)
})

test('an identifier gives back the generation that it holds', () => {
  expect([generationOfCid(0xff05, 8), generationOfCid(0x1ffe, 12), generationOfCid(0x0006, 1)]).toEqual([0xff, 1, 3])
})

test('FFFFh is no identifier of any slot (Base 2.1 §4.1.1)', () => {
  for (let slots = 1; slots <= MOST_IN_FLIGHT; slots++) {
    expect(cidOf(0xffff, slots - 1, cidSlotBits(slots))).toBeLessThan(0xffff)
  }
})

test('as many slots are refused as would leave no room for generations', () => {
  expect(MOST_IN_FLIGHT).toBe(4095)
  expect(() => cidSlotBits(4096)).toThrow(new RangeError('commands in flight on a queue: expected 1 to 4095, got 4096'))
  expect(() => cidSlotBits(0)).toThrow(RangeError)
  expect(() => cidSlotBits(1.5)).toThrow(RangeError)
})
