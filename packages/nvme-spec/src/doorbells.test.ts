import { describe, expect, it } from 'vitest'
import { describeRows } from '../test/rows.js'
import { cqHeadDoorbell, CQyHDBL, DOORBELL_BASE, sqTailDoorbell, SQyTDBL } from './doorbells.js'

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

  it.each([-1, 65_536, 1.5, Number.NaN])('refuses queue identifier %d', (qid) => {
    expect(() => sqTailDoorbell(qid, 0)).toThrow(`queue identifier: expected an integer from 0 to 65535, got ${qid}`)
  })

  it.each([-1, 16])('refuses a DSTRD of %i: the field has four bits', (dstrd) => {
    expect(() => cqHeadDoorbell(1, dstrd)).toThrow(RangeError)
  })

  it('refuses what is no number: it would be taken for one', () => {
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
