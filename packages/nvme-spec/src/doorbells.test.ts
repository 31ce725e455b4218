import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  cqHeadDoorbell,
  CQyHDBL,
  DOORBELL_BASE,
  mustRing,
  shadowCqHead,
  shadowSqTail,
  sqTailDoorbell,
  SQyTDBL,
} from './doorbells.js'
import { describeRows } from '../test/rows.js'

describe('doorbells', () => {
  describe('doorbells (PCIe 1.2 §3.1.2)', () => {
    it('begin at offset 1000h with the Admin Submission Queue', () => {
      expect(DOORBELL_BASE).toBe(0x1000)
      expect(sqTailDoorbell(0, 0)).toBe(0x1000)
      expect(cqHeadDoorbell(0, 0)).toBe(0x1004)
    })

    it.each([
      // qid, DSTRD, SQyTDBL = 1000h + 2y * (4 << DSTRD), CQyHDBL = 1000h + (2y + 1) * (4 << DSTRD)
      [1, 0, 0x1008, 0x100c],
      [2, 0, 0x1010, 0x1014],
      [65_535, 0, 0x8_0ff8, 0x8_0ffc],
      [0, 4, 0x1000, 0x1040],
      [1, 4, 0x1080, 0x10c0],
      [16, 4, 0x1800, 0x1840],
      [65_535, 15, 0x3_fffc_1000, 0x3_fffe_1000],
    ])('queue %i with a stride of 2 ^ (2 + %i) bytes', (qid, dstrd, tail, head) => {
      expect(sqTailDoorbell(qid, dstrd)).toBe(tail)
      expect(cqHeadDoorbell(qid, dstrd)).toBe(head)
    })

    it.each([-1, 65_536, 1.5, Number.NaN])('rejects queue identifier %d', (qid) => {
      expect(() => sqTailDoorbell(qid, 0)).toThrow(`queue identifier: expected an integer from 0 to 65535, got ${qid}`)
    })

    it.each([-1, 16])('rejects a DSTRD of %i: the field has four bits', (dstrd) => {
      expect(() => cqHeadDoorbell(1, dstrd)).toThrow(RangeError)
    })

    it('rejects a value that is not a number, which arithmetic would convert', () => {
      expect(() => sqTailDoorbell('1' as never, 0)).toThrow(
        new TypeError('queue identifier: expected an integer from 0 to 65535, got "1"'),
      )
      expect(() => cqHeadDoorbell(1, 0n as never)).toThrow(
        new TypeError('CAP.DSTRD: expected an integer from 0 to 15, got 0n'),
      )
      expect(() => cqHeadDoorbell(1, undefined as never)).toThrow(TypeError)
    })

    describeRows([
      [SQyTDBL, { SQT: 0xffffn }], // Figure 5
      [CQyHDBL, { CQH: 0xffffn }], // Figure 6
    ])

    it('hold an entry pointer; bits 31:16 are reserved', () => {
      expect(SQyTDBL.encode({ SQT: 0x1234 })).toBe(0x1234)
      expect(SQyTDBL.format(0x0001_0002)).toBe('SQyTDBL=0x00010002 { SQT=2 reserved=0x10000 }')
      expect(CQyHDBL.format(0x0000_ffff)).toBe('CQyHDBL=0x0000ffff { CQH=65535 }')
    })
  })
})

describe('shadow doorbells', () => {
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

    it('rejects an invalid queue identifier or stride', () => {
      expect(() => shadowSqTail(65_536, 0)).toThrow('queue identifier: expected an integer from 0 to 65535, got 65536')
      expect(() => shadowCqHead(1, 16)).toThrow('CAP.DSTRD: expected an integer from 0 to 15, got 16')
    })
  })

  describe('the doorbell register is also written (Base 2.2 §B.5.1)', () => {
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
    ])('from %i to %i with EventIdx %i: %s', (before, after, eventIdx, ring) => {
      expect(mustRing(before, after, eventIdx)).toBe(ring)
    })

    it('exactly if the pointer, advanced entry by entry, passes EventIdx, in queues of any size', () => {
      const cases = fc
        .integer({ min: 2, max: 65_536 })
        .chain((entries) =>
          fc.tuple(fc.constant(entries), fc.nat(entries - 1), fc.nat(entries - 1), fc.nat(entries - 1)),
        )
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
    ])('rejects an invalid entry pointer: %s', (call, message) => {
      expect(call).toThrow(new RangeError(message))
    })

    it('rejects a value that is not a number', () => {
      expect(() => mustRing(0, 1, undefined as never)).toThrow(
        new TypeError('EventIdx: expected an integer from 0 to 65535, got undefined'),
      )
      expect(() => mustRing('0' as never, 1, 0)).toThrow(TypeError)
    })
  })
})
