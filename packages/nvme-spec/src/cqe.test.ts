import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromHex } from '../test/bytes.js'
import { CQE, decodeCqe, formatCqe } from './cqe.js'

describe('completion queue entry (Base 2.1 §4.2.1, Figures 96 to 100)', () => {
  it('is 16 bytes: DW0, DW1, SQHD and SQID in DW2, CID and Phase Tag and Status in DW3', () => {
    const cqe = CQE.view(fromHex('44 33 22 11  88 77 66 55  07 00 01 00  12 04 01 c1'))
    expect({ ...pick(cqe) }).toEqual({
      DW0: 0x1122_3344,
      DW1: 0x5566_7788,
      SQHD: 7,
      SQID: 1,
      CID: 0x0412,
      STATUS: 0xc101,
    })
    expect(CQE.bytes).toBe(16)
  })

  // Bits of DW3: 31 DNR, 30 M, 29:28 CRD, 27:25 SCT, 24:17 SC, 16 P. The word here is DW3 without CID.
  it.each([
    ['P', 0x0001, 1],
    ['SC', 0x01fe, 0xff],
    ['SCT', 0x0e00, 7],
    ['CRD', 0x3000, 3],
    ['M', 0x4000, 1],
    ['DNR', 0x8000, 1],
  ] as const)('%s stands at its bits of DW3', (name, word, ones) => {
    expect(CQE.STATUS[name].of(word)).toBe(ones)
    expect(CQE.STATUS[name].of(0xffff & ~word)).toBe(0)
  })

  it('LBA Out of Range is SCT 0h, SC 80h: 0100h above the Phase Tag', () => {
    expect(CQE.STATUS.SC.of(0x0101)).toBe(0x80)
    expect(CQE.STATUS.SCT.of(0x0101)).toBe(0)
  })

  it('reads as one line: identifiers, Phase Tag, dwords that are set, and the status by name', () => {
    expect(formatCqe(fromHex('00 00 00 00  00 00 00 00  07 00 01 00  12 04 01 81'))).toBe(
      'CID=0x0412 SQID=1 SQHD=7 P=1 LBA Out of Range (SCT 0h SC 80h, DNR)',
    )
    expect(formatCqe(fromHex('a5 a5  03 00 07 00  01 00 00 00  09 00 00 00  05 00 02 52'), 2)).toBe(
      'CID=0x0005 SQID=0 SQHD=9 P=0 DW0=0x00070003 DW1=0x00000001 CRD=1 Invalid Queue Identifier (SCT 1h SC 01h, M)',
    )
  })

  it('is an object of all that it holds', () => {
    expect(decodeCqe(fromHex('a5 a5  03 00 07 00  01 00 00 00  09 00 02 00  05 00 03 d2'), 2)).toEqual({
      DW0: 0x0007_0003,
      DW1: 1,
      SQHD: 9,
      SQID: 2,
      CID: 5,
      P: 1,
      status: { sct: 1, sc: 0x01, name: 'Invalid Queue Identifier', crd: 1, more: true, dnr: true },
    })
  })

  it('hides no bit, neither as an object nor as text', () => {
    const read = (bytes: Uint8Array) => {
      const data = new DataView(bytes.slice().buffer)
      return { object: JSON.stringify(decodeCqe(data)), text: formatCqe(data) }
    }
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), fc.nat(127), (bytes, at) => {
        const before = read(bytes)
        bytes[at >>> 3]! ^= 1 << (at & 7)
        const after = read(bytes)
        expect(after.object).not.toBe(before.object)
        expect(after.text).not.toBe(before.text)
      }),
      { numRuns: 1000 },
    )
  })

  it('formats any 16 bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
        expect(formatCqe(new DataView(bytes.slice().buffer))).toMatch(/^CID=0x[0-9a-f]{4} SQID=\d+ SQHD=\d+ P=[01] /)
      }),
    )
  })
})

function pick({ DW0, DW1, SQHD, SQID, CID, STATUS }: ReturnType<typeof CQE.view>) {
  return { DW0, DW1, SQHD, SQID, CID, STATUS }
}
