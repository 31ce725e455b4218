import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bitValues } from '../test/arbitrary.js'
import { describeRows, type Rows } from '../test/rows.js'
import type { BitsMap } from './layout/index.js'
import {
  ACQ,
  AQA,
  ASQ,
  CAP,
  CC,
  CRTO,
  CSTS,
  INTMC,
  INTMS,
  NSSD,
  NSSR,
  registers,
  registersOf,
  VS,
} from './registers.js'
import { zeroBased } from './layout/zero-based.js'

describe('controller properties (Base 2.1 §3.1.4)', () => {
  it.each([
    [CAP, 'CAP', 0x00, 64, 'ro'],
    [VS, 'VS', 0x08, 32, 'ro'],
    [INTMS, 'INTMS', 0x0c, 32, 'rw1s'],
    [INTMC, 'INTMC', 0x10, 32, 'rw1c'],
    [CC, 'CC', 0x14, 32, 'rw'],
    [CSTS, 'CSTS', 0x1c, 32, 'rw1c'],
    [NSSR, 'NSSR', 0x20, 32, 'rw'],
    [AQA, 'AQA', 0x24, 32, 'rw'],
    [ASQ, 'ASQ', 0x28, 64, 'rw'],
    [ACQ, 'ACQ', 0x30, 64, 'rw'],
    [NSSD, 'NSSD', 0x64, 32, 'rw'],
    [CRTO, 'CRTO', 0x68, 32, 'ro'],
  ] as const)('$1 is at offset $2 and $3 bits wide', (register, name, offset, widthBits, access) => {
    expect(register).toMatchObject({ name, offset, widthBits, access })
  })

  it('the table of registers is in offset order and names each once', () => {
    expect(registers.map(({ name, offset }) => `${offset.toString(16).toUpperCase()}h ${name}`)).toEqual([
      // Base 2.1 §3.1.4, Figures 36 to 57
      ...[
        '0h CAP',
        '8h VS',
        'Ch INTMS',
        '10h INTMC',
        '14h CC',
        '1Ch CSTS',
        '20h NSSR',
        '24h AQA',
        '28h ASQ',
        '30h ACQ',
      ],
      ...['38h CMBLOC', '3Ch CMBSZ', '40h BPINFO', '44h BPRSEL', '48h BPMBL', '50h CMBMSC', '58h CMBSTS', '5Ch CMBEBS'],
      ...['60h CMBSWTP', '64h NSSD', '68h CRTO'],
      // Figures 58 to 64
      ...['E00h PMRCAP', 'E04h PMRCTL', 'E08h PMRSTS', 'E0Ch PMREBS', 'E10h PMRSWTP', 'E14h PMRMSCL', 'E18h PMRMSCU'],
    ])
  })

  // The word with every bit of one field set, as its figure places the field.
  const positions: Rows[] = [
    [
      CAP, // Figure 36
      {
        MQES: 0x0000_0000_0000_ffffn,
        CQR: 0x0000_0000_0001_0000n,
        AMS_WRRUPC: 0x0000_0000_0002_0000n,
        AMS_VS: 0x0000_0000_0004_0000n,
        TO: 0x0000_0000_ff00_0000n,
        DSTRD: 0x0000_000f_0000_0000n,
        NSSRS: 0x0000_0010_0000_0000n,
        CSS_NCSS: 0x0000_0020_0000_0000n,
        CSS_IOCSS: 0x0000_0800_0000_0000n,
        CSS_NOIOCSS: 0x0000_1000_0000_0000n,
        BPS: 0x0000_2000_0000_0000n,
        CPS: 0x0000_c000_0000_0000n,
        MPSMIN: 0x000f_0000_0000_0000n,
        MPSMAX: 0x00f0_0000_0000_0000n,
        PMRS: 0x0100_0000_0000_0000n,
        CMBS: 0x0200_0000_0000_0000n,
        NSSS: 0x0400_0000_0000_0000n,
        CRWMS: 0x0800_0000_0000_0000n,
        CRIMS: 0x1000_0000_0000_0000n,
        NSSES: 0x2000_0000_0000_0000n,
      },
    ],
    [VS, { TER: 0x0000_00ffn, MNR: 0x0000_ff00n, MJR: 0xffff_0000n }], // Figure 37
    [INTMS, { IVMS: 0xffff_ffffn }], // Figure 39
    [INTMC, { IVMC: 0xffff_ffffn }], // Figure 40
    [
      CC, // Figure 41
      {
        EN: 0x0000_0001n,
        CSS: 0x0000_0070n,
        MPS: 0x0000_0780n,
        AMS: 0x0000_3800n,
        SHN: 0x0000_c000n,
        IOSQES: 0x000f_0000n,
        IOCQES: 0x00f0_0000n,
        CRIME: 0x0100_0000n,
      },
    ],
    [
      CSTS, // Figure 42
      { RDY: 0x01n, CFS: 0x02n, SHST: 0x0cn, NSSRO: 0x10n, PP: 0x20n, ST: 0x40n },
    ],
    [NSSR, { NSSRC: 0xffff_ffffn }], // Figure 43
    [AQA, { ASQS: 0x0000_0fffn, ACQS: 0x0fff_0000n }], // Figure 44
    [ASQ, { ASQB: 0xffff_ffff_ffff_f000n }], // Figure 45
    [ACQ, { ACQB: 0xffff_ffff_ffff_f000n }], // Figure 46
    [NSSD, { NSSC: 0xffff_ffffn }], // Figure 56
    [CRTO, { CRWMT: 0x0000_ffffn, CRIMT: 0xffff_0000n }], // Figure 57
  ]

  describeRows(positions)

  it('CC for an NVM controller with 4 KiB pages and entries of 64 and 16 bytes is 00460001h', () => {
    expect(CC.encode({ EN: 1, IOSQES: 6, IOCQES: 4 })).toBe(0x0046_0001)
    expect(CC.decode(0x0046_0001)).toEqual({ EN: 1, CSS: 0, MPS: 0, AMS: 0, SHN: 0, IOSQES: 6, IOCQES: 4, CRIME: 0 })
    expect(CC.format(0x0046_0001)).toBe(
      'CC=0x00460001 { EN=1 CSS=NVM MPS=0 AMS=ROUND_ROBIN SHN=NONE IOSQES=6 IOCQES=4 CRIME=0 }',
    )
  })

  it('a shutdown is asked for by SHN 01b (normal) or 10b (abrupt)', () => {
    expect(CC.encode({ SHN: CC.SHN.NORMAL }, 0x0046_0001)).toBe(0x0046_4001)
    expect(CC.encode({ SHN: CC.SHN.ABRUPT }, 0x0046_0001)).toBe(0x0046_8001)
  })

  it('CSS 000b, 110b and 111b select the NVM, all supported and no I/O command sets', () => {
    expect(CC.encode({ CSS: CC.CSS.NVM })).toBe(0x00)
    expect(CC.encode({ CSS: CC.CSS.IOCS })).toBe(0x60)
    expect(CC.encode({ CSS: CC.CSS.ADMIN_ONLY })).toBe(0x70)
  })

  it('SHST 10b says that shutdown processing is complete', () => {
    expect(CSTS.SHST.of(0x0000_0009)).toBe(2)
    expect(CSTS.SHST.nameOf(2)).toBe('COMPLETE')
    expect(CSTS.format(0x0000_0009)).toBe('CSTS=0x00000009 { RDY=1 CFS=0 SHST=COMPLETE NSSRO=0 PP=0 ST=0 }')
  })

  it('an NVM Subsystem Reset is 4E564D65h ("NVMe") and nothing else', () => {
    expect(NSSR.encode({ NSSRC: NSSR.NSSRC.RESET })).toBe(0x4e56_4d65)
    expect(() => NSSR.encode({ NSSRC: 1 as never })).toThrow('NSSR.NSSRC')
  })

  it('an NVM Subsystem Shutdown is 4E726D6Ch ("Nrml") or 41627074h ("Abpt")', () => {
    expect(NSSD.encode({ NSSC: NSSD.NSSC.NORMAL })).toBe(0x4e72_6d6c)
    expect(NSSD.encode({ NSSC: NSSD.NSSC.ABRUPT })).toBe(0x4162_7074)
  })

  it('version 2.1.0 is 00020100h and version 1.2.1 is 00010201h', () => {
    expect(VS.decode(0x0002_0100)).toEqual({ MJR: 2, MNR: 1, TER: 0 })
    expect(VS.decode(0x0001_0201)).toEqual({ MJR: 1, MNR: 2, TER: 1 })
  })

  it("AQA holds both admin queue sizes 0's based", () => {
    expect(AQA.encode({ ASQS: zeroBased(32), ACQS: zeroBased(64) })).toBe(0x003f_001f)
    expect(AQA.encode({ ASQS: zeroBased(4096), ACQS: zeroBased(4096) })).toBe(0x0fff_0fff)
    expect(() => AQA.encode({ ASQS: zeroBased(4097) })).toThrow('AQA.ASQS')
  })

  it('ASQ and ACQ hold bits 63:12 of a page-aligned address', () => {
    expect(ASQ.encode({ ASQB: 0x1_2345n })).toBe(0x1234_5000n)
    expect(ACQ.encode({ ACQB: 0xf_ffff_ffff_ffffn })).toBe(0xffff_ffff_ffff_f000n)
    expect(ACQ.format(0xffff_ffff_ffff_f000n)).toBe('ACQ=0xfffffffffffff000 { ACQB=0xfffffffffffff }')
  })

  it('a whole CAP reads field by field', () => {
    const cap = CAP.decode(0x0040_0020_0f01_07ffn)
    expect(cap).toMatchObject({ MQES: 2047, CQR: 1, TO: 15, DSTRD: 0, CSS_NCSS: 1, MPSMIN: 0, MPSMAX: 4 })
  })

  it('all 32 mask bits read as an unsigned number', () => {
    expect(INTMS.IVMS.of(0xffff_ffff)).toBe(4_294_967_295)
    expect(INTMC.IVMC.of(0x8000_0000)).toBe(2_147_483_648)
  })

  it('refuses a value that does not fit, and names the field', () => {
    expect(() => CC.encode({ IOSQES: 16 })).toThrow(
      new RangeError(
        'CC.IOSQES (I/O Submission Queue Entry Size: 2 ^ n bytes): expected an integer from 0 to 15, got 16 (Base 2.1 §3.1.4.5)',
      ),
    )
    expect(() => CC.encode({ MPS: -1 })).toThrow(RangeError)
    expect(() => CC.encode({ MPS: 1.5 })).toThrow(RangeError)
    expect(() => CC.encode({ CSS: 3 as never })).toThrow('expected 0 (NVM), 6 (IOCS), 7 (ADMIN_ONLY), got 3')
    expect(() => ASQ.encode({ ASQB: 1n << 52n })).toThrow('ASQ.ASQB')
    expect(() => CC.encode({ ENABLE: 1 } as never)).toThrow(
      new TypeError('CC has no field ENABLE; its fields: EN CSS MPS AMS SHN IOSQES IOCQES CRIME (Base 2.1 §3.1.4.5)'),
    )
    expect(() => CC.encode({ toString: 1 } as never)).toThrow(TypeError)
  })

  it('shows a value that the spec reserves as its number, and reserved bits as they are', () => {
    expect(CC.format(0xfe00_0030)).toBe(
      'CC=0xfe000030 { EN=0 CSS=3 MPS=0 AMS=ROUND_ROBIN SHN=NONE IOSQES=0 IOCQES=0 CRIME=0 reserved=0xfe000000 }',
    )
    expect(CSTS.format(0xffff_ffff)).toContain('reserved=0xffffff80')
  })
})

describe.each(registers.map((register) => [register.name, register] as const))('%s', (_, declared) => {
  // Every register has the methods of any other; the union of their types has none that can be called.
  const register = declared as unknown as {
    name: string
    fields: BitsMap
    widthBits: number
    encode(values: object, base?: number | bigint): number | bigint
    decode(raw: number | bigint): Record<string, number | bigint>
    format(raw: number | bigint): string
  }
  const word = fc.bigInt(0n, (1n << BigInt(register.widthBits)) - 1n)
  const raw = (bits: bigint) => (register.widthBits === 64 ? bits : Number(bits))
  const fieldMask = Object.values(register.fields).reduce(
    (mask, { msb, lsb }) => mask | (((1n << BigInt(msb - lsb + 1)) - 1n) << BigInt(lsb)),
    0n,
  )

  it('what is encoded is decoded again', () => {
    fc.assert(
      fc.property(bitValues(register.fields), (values) => {
        expect(register.decode(register.encode(values))).toMatchObject(values)
      }),
    )
  })

  it('fields that are not given, and reserved bits, keep what the base word had', () => {
    fc.assert(
      fc.property(bitValues(register.fields), word, (values, base) => {
        const encoded = register.encode(values, raw(base))
        const before = register.decode(raw(base))
        expect(register.decode(encoded)).toEqual({ ...before, ...values })
        expect(BigInt(encoded) & ~fieldMask).toBe(base & ~fieldMask)
      }),
    )
  })

  it('any word can be formatted, and reserved bits that are set are shown', () => {
    fc.assert(
      fc.property(word, (bits) => {
        const rest = bits & ~fieldMask
        const text = register.format(raw(bits))
        expect(text).toContain(`${register.name}=0x${bits.toString(16).padStart(register.widthBits / 4, '0')} {`)
        expect(text.includes(`reserved=0x${rest.toString(16)} `)).toBe(rest !== 0n)
      }),
    )
  })
})

describe('the registers that a controller has', () => {
  const names = (cap: bigint) => registersOf(cap).map(({ name }) => name)

  it('are those that every controller has where CAP reports nothing', () => {
    expect(names(0n)).toEqual(['CAP', 'VS', 'INTMS', 'INTMC', 'CC', 'CSTS', 'AQA', 'ASQ', 'ACQ', 'CRTO'])
  })

  it('are all of them where CAP reports subsystem reset (36), boot partitions (45), PMR (56), CMB (57) and subsystem shutdown (58)', () => {
    expect(names((1n << 36n) | (1n << 45n) | (0b111n << 56n))).toEqual(registers.map(({ name }) => name))
    expect(names(1n << 45n).filter((name) => name.startsWith('BP'))).toEqual(['BPINFO', 'BPRSEL', 'BPMBL'])
    expect(names(1n << 58n)).toContain('NSSD')
  })
})
