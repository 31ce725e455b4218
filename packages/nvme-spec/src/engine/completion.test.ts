import { describe, expect, test } from 'vitest'
import {
  cidOf,
  cidSlotBits,
  EngineFailedError,
  generationOfCid,
  isLost,
  MAX_IN_FLIGHT,
  slotOfCid,
  statusOutcome,
} from './completion.js'

describe('command ids', () => {
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
  ])('%i slots take %i bits, which leave at least one value unused', (slots, bits) => {
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

  test('generationOfCid returns the generation in an identifier', () => {
    expect([generationOfCid(0xff05, 8), generationOfCid(0x1ffe, 12), generationOfCid(0x0006, 1)]).toEqual([0xff, 1, 3])
  })

  test('assigns the identifier FFFFh to no slot (Base 2.1 §4.1.1)', () => {
    for (let slots = 1; slots <= MAX_IN_FLIGHT; slots++) {
      expect(cidOf(0xffff, slots - 1, cidSlotBits(slots))).toBeLessThan(0xffff)
    }
  })

  test('rejects more slots than leave room for generations', () => {
    expect(MAX_IN_FLIGHT).toBe(4095)
    expect(() => cidSlotBits(4096)).toThrow(
      new RangeError('commands in flight on a queue: expected 1 to 4095, got 4096'),
    )
    expect(() => cidSlotBits(0)).toThrow(RangeError)
    expect(() => cidSlotBits(1.5)).toThrow(RangeError)
  })
})

describe('isLost', () => {
  test.each([
    [0x0000_0001, false, 'ready'],
    [0x0000_0005, false, 'ready, and shutting down'],
    [0x0000_0000, true, 'not ready'],
    [0x0000_0003, true, 'ready, with CFS'],
    [0x0000_0002, true, 'with CFS alone'],
    [0xffff_ffff, true, 'off the bus'],
  ])('CSTS %i: returns %s, the controller is %s', (csts, lost) => {
    expect(isLost(csts)).toBe(lost)
  })
})

describe('status outcome', () => {
  // The Status field without its Phase Tag (Base 2.1 §4.2.3): SC 7:0, SCT 10:8, CRD 12:11, M 13, DNR 14.
  test.each([
    [0x0000, { sct: 0, sc: 0, crd: 0, more: false, dnr: false }],
    [0x0281, { sct: 2, sc: 0x81, crd: 0, more: false, dnr: false }],
    [0x4180, { sct: 1, sc: 0x80, crd: 0, more: false, dnr: true }],
    [0x2002, { sct: 0, sc: 2, crd: 0, more: true, dnr: false }],
    [0x1822, { sct: 0, sc: 0x22, crd: 3, more: false, dnr: false }],
    [0x7fff, { sct: 7, sc: 0xff, crd: 3, more: true, dnr: true }],
  ])('splits status %i into its fields', (status15, fields) => {
    expect(statusOutcome(status15)).toEqual({ kind: 'status', ...fields })
  })

  test('EngineFailedError has the name of the engine, the cause and the next step', () => {
    const cause = new TypeError('the mapping is gone')
    const error = new EngineFailedError('cuda', cause)
    expect(error.message).toBe(
      "The engine 'cuda' lost its transport: the mapping is gone\n" +
        '  Try: see the cause; open the transport and the controller again',
    )
    expect(error).toMatchObject({
      code: 'ERR_GPUNVME_ENGINE_FAILED',
      category: 'device',
      name: 'EngineFailedError',
      cause,
    })
    expect(new EngineFailedError('cuda', cause, 'end this process').message).toMatch(/\n {2}Try: end this process$/)
    expect(new EngineFailedError('host', 'no words').message).toContain("'host' lost its transport: no words\n")
  })
})
