import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mustRing, shadowCqHead, shadowSqTail } from './shadow-doorbells.js'

describe('Shadow Doorbell and EventIdx buffers (Base 2.1 §5.2.5)', () => {
  it.each([
    // qid, DSTRD, SQ tail = 2y * (4 << DSTRD), CQ head = (2y + 1) * (4 << DSTRD); QEMU with its stride of 4 bytes:
    // (qid << 3) and (qid << 3) + 4
    [0, 0, 0x00, 0x04],
    [1, 0, 0x08, 0x0c],
    [2, 0, 0x10, 0x14],
    [511, 0, 0xff8, 0xffc],
    [1, 1, 0x10, 0x18],
    [3, 4, 0x180, 0x1c0],
  ])('queue %i with a stride of 2 ^ (2 + %i) bytes', (qid, dstrd, tail, head) => {
    expect(shadowSqTail(qid, dstrd)).toBe(tail)
    expect(shadowCqHead(qid, dstrd)).toBe(head)
  })

  it('refuses what is no queue identifier or no stride', () => {
    expect(() => shadowSqTail(65_536, 0)).toThrow('queue identifier: expected an integer from 0 to 65535, got 65536')
    expect(() => shadowCqHead(1, 16)).toThrow('CAP.DSTRD: expected an integer from 0 to 15, got 16')
  })
})

describe('the doorbell register is written as well (Base 2.2 §B.5.1)', () => {
  it.each([
    // before, after, EventIdx, must ring
    [2, 3, 2, true],
    [2, 3, 3, false],
    [2, 3, 1, false],
    [0, 8, 5, true],
    [0, 8, 8, false],
    [62, 1, 62, true],
    [62, 1, 63, true],
    [62, 1, 0, true],
    [62, 1, 1, false],
    [62, 1, 30, false],
    [65_535, 0, 65_535, true],
    [65_535, 0, 0, false],
    [5, 5, 5, false],
  ])('from %i to %i past EventIdx %i: %s', (before, after, eventIdx, ring) => {
    expect(mustRing(before, after, eventIdx)).toBe(ring)
  })

  it('exactly when the pointer, entry by entry, leaves the entry of EventIdx, in queues of any size', () => {
    const cases = fc
      .integer({ min: 2, max: 65_536 })
      .chain((entries) => fc.tuple(fc.constant(entries), fc.nat(entries - 1), fc.nat(entries - 1), fc.nat(entries - 1)))
    fc.assert(
      fc.property(cases, ([entries, before, added, eventIdx]) => {
        const after = (before + added) % entries
        const distance = (eventIdx - before + entries) % entries
        expect(mustRing(before, after, eventIdx)).toBe(distance < added)
      }),
      { numRuns: 1000 },
    )
  })

  it.each([
    [() => mustRing(-1, 0, 0), 'shadow doorbell before: expected an integer from 0 to 65535, got -1'],
    [() => mustRing(0, 65_536, 0), 'shadow doorbell after: expected an integer from 0 to 65535, got 65536'],
    [() => mustRing(0, 1, Number.NaN), 'EventIdx: expected an integer from 0 to 65535, got NaN'],
    [() => mustRing(0, 0.5, 0), 'shadow doorbell after: expected an integer from 0 to 65535, got 0.5'],
  ])('refuses what is no entry pointer: %s', (call, message) => {
    expect(call).toThrow(new RangeError(message))
  })

  it('refuses what is no number', () => {
    expect(() => mustRing(0, 1, undefined as never)).toThrow(
      new TypeError('EventIdx: expected an integer from 0 to 65535, got undefined'),
    )
    expect(() => mustRing('0' as never, 1, 0)).toThrow(TypeError)
  })
})
