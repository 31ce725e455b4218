import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeSqe, formatSqe } from './commands.js'
import { CQE, decodeCqe, formatCqe, SQE } from './entries.js'
import { fromHex } from '../test/bytes.js'

describe('sqe', () => {
  describe('submission queue entry (Base 2.1 §4.1.1, Figures 91 and 92)', () => {
    it('SQE is 64 bytes, with these fields', () => {
      const entry = fromHex(`c5 81 34 12  04 03 02 01  0b 0a 09 08  0f 0e 0d 0c
                           17 16 15 14  13 12 11 00  1f 1e 1d 1c  1b 1a 19 00
                           27 26 25 24  23 22 21 00  2b 2a 29 28  2f 2e 2d 2c
                           33 32 31 30  37 36 35 34  3b 3a 39 38  3f 3e 3d 3c`)
      expect(SQE.bytes).toBe(64)
      expect(SQE.decode(entry)).toEqual({
        ...{ OPC: 0xc5, FUSE: 1, PSDT: 2, CID: 0x1234, NSID: 0x0102_0304 },
        ...{ CDW2: 0x0809_0a0b, CDW3: 0x0c0d_0e0f, MPTR: 0x11_1213_1415_1617 },
        ...{ PRP1: 0x19_1a1b_1c1d_1e1f, PRP2: 0x21_2223_2425_2627n },
        ...{ CDW10: 0x2829_2a2b, CDW11: 0x2c2d_2e2f, CDW12: 0x3031_3233 },
        ...{ CDW13: 0x3435_3637, CDW14: 0x3839_3a3b, CDW15: 0x3c3d_3e3f },
      })
    })
  })

  // Read (02h) with PSDT in bits 15:14 of its first dword: byte 1 is 40h for 01b, 80h for 10b, C0h for 11b.
  const read = (psdt: string, dptr: string) =>
    fromHex(`02 ${psdt} 12 04  01 00 00 00  00 00 00 00  00 00 00 00
           00 50 00 00  00 00 00 00  ${dptr}
           07 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00`)

  describe('data described by an SGL: bytes 39:24 are SGL1 if PSDT is 01b or 10b (Base 2.1 §4.1.1)', () => {
    const dataBlock = '00 60 45 23 01 00 00 00  00 10 00 00 00 00 00 00'

    it.each([
      ['40', 'SGL'],
      ['80', 'SGL_SEGMENT_MPTR'],
    ])('is formatted as a descriptor for PSDT %s', (psdt, name) => {
      expect(formatSqe('nvm', read(psdt, dataBlock))).toBe(
        `Read PSDT=${name} CID=0x0412 NSID=1 MPTR=0x5000 SGL1={ SGL Data Block descriptor ADDR=0x123456000 LEN=4096 } SLBA=0x7 NLB=0`,
      )
    })

    it('is decoded as SGL1 instead of PRP1 and PRP2', () => {
      const { fields } = decodeSqe('nvm', read('40', '00 10 00 00 00 00 00 00  30 00 00 00 00 00 00 30'))
      expect(fields).toMatchObject({ MPTR: 0x5000, SGL1: { type: 'LAST_SEGMENT', fields: { ADDR: 0x1000, LEN: 48 } } })
      expect(Object.keys(fields)).not.toContain('PRP1')
      expect(Object.keys(fields)).not.toContain('PRP2')
    })

    it('is formatted as a descriptor for an undeclared opcode', () => {
      const data = read('40', '00 00 00 00 00 00 00 00  00 08 00 00 00 00 00 10')
      data.setUint8(0, 0xc1)
      expect(formatSqe('nvm', data)).toBe(
        'NVM opcode 0xc1 PSDT=SGL CID=0x0412 NSID=1 MPTR=0x5000 ' +
          'SGL1={ SGL Bit Bucket descriptor LEN=2048 SGLID={ SGLDST=ADDRESS SGLDT=BIT_BUCKET } } CDW10=0x00000007',
      )
    })

    it('is omitted if the descriptor is all zeroes, like any zero field', () => {
      const zeroes = '00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00'
      expect(formatSqe('nvm', read('40', zeroes))).toBe('Read PSDT=SGL CID=0x0412 NSID=1 MPTR=0x5000 SLBA=0x7 NLB=0')
    })

    it.each([
      ['00', 'Read CID=0x0412'],
      ['c0', 'Read PSDT=3 CID=0x0412'],
    ])('is formatted as PRP1 and PRP2 for PSDT %s', (psdt, start) => {
      expect(formatSqe('nvm', read(psdt, dataBlock))).toBe(
        `${start} NSID=1 MPTR=0x5000 PRP1=0x123456000 PRP2=0x1000 SLBA=0x7 NLB=0`,
      )
    })
  })
})

describe('cqe', () => {
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
    ] as const)('%s is at its bits of DW3', (name, word, ones) => {
      expect(CQE.STATUS[name].of(word)).toBe(ones)
      expect(CQE.STATUS[name].of(0xffff & ~word)).toBe(0)
    })

    it('LBA Out of Range is SCT 0h, SC 80h: 0100h above the Phase Tag', () => {
      expect(CQE.STATUS.SC.of(0x0101)).toBe(0x80)
      expect(CQE.STATUS.SCT.of(0x0101)).toBe(0)
    })

    it('is formatted as one line: identifiers, Phase Tag, nonzero dwords, and the status by name', () => {
      expect(formatCqe(fromHex('00 00 00 00  00 00 00 00  07 00 01 00  12 04 01 81'))).toBe(
        'CID=0x0412 SQID=1 SQHD=7 P=1 LBA Out of Range (SCT 0h SC 80h, DNR)',
      )
      expect(formatCqe(fromHex('a5 a5  03 00 07 00  01 00 00 00  09 00 00 00  05 00 02 52'), 2)).toBe(
        'CID=0x0005 SQID=0 SQHD=9 P=0 DW0=0x00070003 DW1=0x00000001 CRD=1 Invalid Queue Identifier (SCT 1h SC 01h, M)',
      )
    })

    it('is decoded as an object of all its fields', () => {
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

    it('shows every bit, both as an object and as text', () => {
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
})
