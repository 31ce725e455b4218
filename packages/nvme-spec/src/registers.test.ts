import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { BitsMap } from './layout/index.js'
import { zeroBased } from './layout/rows.js'
import {
  ACQ,
  AQA,
  ASQ,
  BPINFO,
  BPMBL,
  BPRSEL,
  CAP,
  CC,
  CMBEBS,
  CMBLOC,
  CMBMSC,
  CMBSTS,
  CMBSWTP,
  CMBSZ,
  CRTO,
  CSTS,
  formatRegisterAt,
  INTMC,
  INTMS,
  NSSD,
  NSSR,
  PMRCAP,
  PMRCTL,
  PMREBS,
  PMRMSCL,
  PMRMSCU,
  PMRSTS,
  PMRSWTP,
  registerAt,
  registerNameAt,
  registers,
  registersOf,
  VS,
} from './registers.js'
import { bitValues } from '../test/arbitrary.js'
import { describeRows, type Rows } from '../test/rows.js'

describe('registers boot', () => {
  describe('Boot Partitions (Base 2.1 §3.1.4.13 to §3.1.4.15)', () => {
    it.each([
      [BPINFO, 'BPINFO', 0x40, 32, 'ro'],
      [BPRSEL, 'BPRSEL', 0x44, 32, 'rw'],
      [BPMBL, 'BPMBL', 0x48, 64, 'rw'],
    ] as const)('$1 is at offset $2 and $3 bits wide', (register, name, offset, widthBits, access) => {
      expect(register).toMatchObject({ name, offset, widthBits, access })
    })

    describeRows([
      [BPINFO, { BPSZ: 0x0000_7fffn, BRS: 0x0300_0000n, ABPID: 0x8000_0000n }], // Figure 49
      [BPRSEL, { BPRSZ: 0x0000_03ffn, BPROF: 0x3fff_fc00n, BPID: 0x8000_0000n }], // Figure 50
      [BPMBL, { BMBBA: 0xffff_ffff_ffff_f000n }], // Figure 51
    ])

    it('BRS reports a read in progress (01b), completed (10b) or failed (11b)', () => {
      expect([0, 1, 2, 3].map((brs) => BPINFO.BRS.nameOf(brs)).join(' ')).toBe('NONE IN_PROGRESS SUCCESS ERROR')
      expect(BPINFO.format(0x8200_0008)).toBe('BPINFO=0x82000008 { BPSZ=8 BRS=SUCCESS ABPID=1 }')
    })
  })
})

describe('registers cmb', () => {
  describe('Controller Memory Buffer (Base 2.1 §3.1.4.11 to §3.1.4.19)', () => {
    it.each([
      [CMBLOC, 'CMBLOC', 0x38, 32, 'ro'],
      [CMBSZ, 'CMBSZ', 0x3c, 32, 'ro'],
      [CMBMSC, 'CMBMSC', 0x50, 64, 'rw'],
      [CMBSTS, 'CMBSTS', 0x58, 32, 'ro'],
      [CMBEBS, 'CMBEBS', 0x5c, 32, 'ro'],
      [CMBSWTP, 'CMBSWTP', 0x60, 32, 'ro'],
    ] as const)('$1 is at offset $2 and $3 bits wide', (register, name, offset, widthBits, access) => {
      expect(register).toMatchObject({ name, offset, widthBits, access })
    })

    describeRows([
      [
        CMBLOC, // Figure 47
        {
          BIR: 0x0000_0007n,
          CQMMS: 0x0000_0008n,
          CQPDS: 0x0000_0010n,
          CDPMLS: 0x0000_0020n,
          CDPCILS: 0x0000_0040n,
          CDMMMS: 0x0000_0080n,
          CQDA: 0x0000_0100n,
          OFST: 0xffff_f000n,
        },
      ],
      [
        CMBSZ, // Figure 48
        {
          SQS: 0x0000_0001n,
          CQS: 0x0000_0002n,
          LISTS: 0x0000_0004n,
          RDS: 0x0000_0008n,
          WDS: 0x0000_0010n,
          SZU: 0x0000_0f00n,
          SZ: 0xffff_f000n,
        },
      ],
      [CMBMSC, { CRE: 0x1n, CMSE: 0x2n, CBA: 0xffff_ffff_ffff_f000n }], // Figure 52
      [CMBSTS, { CBAI: 0x1n }], // Figure 53
      [CMBEBS, { CMBSZU: 0xfn, CMBRBB: 0x10n, CMBWBZ: 0xffff_ff00n }], // Figure 54
      [CMBSWTP, { CMBSWTU: 0xfn, CMBSWTV: 0xffff_ff00n }], // Figure 55
    ])

    it('a buffer of 512 MiB is 512 Size Units of 1 MiB', () => {
      expect(CMBSZ.format(0x0020_021f)).toBe('CMBSZ=0x0020021f { SQS=1 CQS=1 LISTS=1 RDS=1 WDS=1 SZU=MIB_1 SZ=512 }')
    })

    it('Size Units 0h to 6h are 4 KiB, 64 KiB, 1 MiB, 16 MiB, 256 MiB, 4 GiB and 64 GiB', () => {
      expect([0, 1, 2, 3, 4, 5, 6, 7].map((szu) => CMBSZ.SZU.nameOf(szu)).join(' ')).toBe(
        'KIB_4 KIB_64 MIB_1 MIB_16 MIB_256 GIB_4 GIB_64 7',
      )
    })

    it('elasticity buffer and throughput count bytes, KiB, MiB or GiB', () => {
      expect(CMBEBS.format(0x0000_1011)).toBe('CMBEBS=0x00001011 { CMBSZU=KIB CMBRBB=1 CMBWBZ=16 }')
      expect(CMBSWTP.format(0x0000_0203)).toBe('CMBSWTP=0x00000203 { CMBSWTU=GIB CMBSWTV=2 }')
    })
  })
})

describe('registers pmr', () => {
  describe('Persistent Memory Region (Base 2.1 §3.1.4.22 to §3.1.4.24, Base 2.2 §3.1.4.25 to §3.1.4.28)', () => {
    it.each([
      [PMRCAP, 'PMRCAP', 0xe00, 32, 'ro'],
      [PMRCTL, 'PMRCTL', 0xe04, 32, 'rw'],
      [PMRSTS, 'PMRSTS', 0xe08, 32, 'ro'],
      [PMREBS, 'PMREBS', 0xe0c, 32, 'ro'],
      [PMRSWTP, 'PMRSWTP', 0xe10, 32, 'ro'],
      [PMRMSCL, 'PMRMSCL', 0xe14, 32, 'rw'],
      [PMRMSCU, 'PMRMSCU', 0xe18, 32, 'rw'],
    ] as const)('$1 is at offset $2 and $3 bits wide', (register, name, offset, widthBits, access) => {
      expect(register).toMatchObject({ name, offset, widthBits, access })
    })

    describeRows([
      [
        PMRCAP, // Figure 58
        {
          RDS: 0x0000_0008n,
          WDS: 0x0000_0010n,
          BIR: 0x0000_00e0n,
          PMRTU: 0x0000_0300n,
          PMRWBM_CMR: 0x0000_0400n,
          PMRWBM_CPMTSTSR: 0x0000_0800n,
          PMRTO: 0x00ff_0000n,
          CMSS: 0x0100_0000n,
        },
      ],
      [PMRCTL, { EN: 0x1n }], // Figure 59
      [PMRSTS, { ERR: 0xffn, NRDY: 0x100n, HSTS: 0xe00n, CBAI: 0x1000n }], // Figure 60
      [PMREBS, { PMRSZU: 0xfn, PMRRBB: 0x10n, PMRWBZ: 0xffff_ff00n }], // Figure 61
      [PMRSWTP, { PMRSWTU: 0xfn, PMRSWTV: 0xffff_ff00n }], // Figure 62
      [PMRMSCL, { CMSE: 0x2n, CBA: 0xffff_f000n }], // Figure 63
      [PMRMSCU, { CBA: 0xffff_ffffn }], // Figure 64
    ])

    it('health is normal, a restore error, read only or unreliable', () => {
      expect([0, 1, 2, 3, 4].map((hsts) => PMRSTS.HSTS.nameOf(hsts)).join(' ')).toBe(
        'NORMAL RESTORE_ERROR READ_ONLY UNRELIABLE 4',
      )
    })

    it('the timeout is in units of 500 milliseconds (00b) or minutes (01b)', () => {
      expect(PMRCAP.describe(0x0005_0d40)).toBe(
        'RDS=0 WDS=0 BIR=2 PMRTU=MINUTES PMRWBM_CMR=1 PMRWBM_CPMTSTSR=1 PMRTO=5 CMSS=0',
      )
    })

    it('units are bytes, KiB, MiB and GiB', () => {
      expect(PMREBS.describe(0x0000_0102)).toBe('PMRSZU=MIB PMRRBB=0 PMRWBZ=1')
      expect(PMRSWTP.describe(0x0000_0100)).toBe('PMRSWTU=BYTES PMRSWTV=1')
    })
  })
})

describe('registers', () => {
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

    it('the table of registers is in offset order and contains each once', () => {
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
        ...[
          '38h CMBLOC',
          '3Ch CMBSZ',
          '40h BPINFO',
          '44h BPRSEL',
          '48h BPMBL',
          '50h CMBMSC',
          '58h CMBSTS',
          '5Ch CMBEBS',
        ],
        ...['60h CMBSWTP', '64h NSSD', '68h CRTO'],
        // Figures 58 to 64
        ...['E00h PMRCAP', 'E04h PMRCTL', 'E08h PMRSTS', 'E0Ch PMREBS', 'E10h PMRSWTP', 'E14h PMRMSCL', 'E18h PMRMSCU'],
      ])
    })

    // Words with all bits of one field set, from the figure of the register.
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

    it('SHN 01b requests a normal shutdown, 10b an abrupt one', () => {
      expect(CC.encode({ SHN: CC.SHN.NORMAL }, 0x0046_0001)).toBe(0x0046_4001)
      expect(CC.encode({ SHN: CC.SHN.ABRUPT }, 0x0046_0001)).toBe(0x0046_8001)
    })

    it('CSS 000b selects the NVM Command Set, 110b all supported I/O command sets, 111b none', () => {
      expect(CC.encode({ CSS: CC.CSS.NVM })).toBe(0x00)
      expect(CC.encode({ CSS: CC.CSS.IOCS })).toBe(0x60)
      expect(CC.encode({ CSS: CC.CSS.ADMIN_ONLY })).toBe(0x70)
    })

    it('SHST 10b reports that shutdown processing is complete', () => {
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

    it('CAP is decoded field by field', () => {
      const cap = CAP.decode(0x0040_0020_0f01_07ffn)
      expect(cap).toMatchObject({ MQES: 2047, CQR: 1, TO: 15, DSTRD: 0, CSS_NCSS: 1, MPSMIN: 0, MPSMAX: 4 })
    })

    it('all 32 mask bits are decoded as an unsigned number', () => {
      expect(INTMS.IVMS.of(0xffff_ffff)).toBe(4_294_967_295)
      expect(INTMC.IVMC.of(0x8000_0000)).toBe(2_147_483_648)
    })

    it('rejects a value that does not fit, and names the field', () => {
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

    it('shows a reserved value by its number, and reserved bits as a mask', () => {
      expect(CC.format(0xfe00_0030)).toBe(
        'CC=0xfe000030 { EN=0 CSS=3 MPS=0 AMS=ROUND_ROBIN SHN=NONE IOSQES=0 IOCQES=0 CRIME=0 reserved=0xfe000000 }',
      )
      expect(CSTS.format(0xffff_ffff)).toContain('reserved=0xffffff80')
    })
  })

  describe.each(registers.map((register) => [register.name, register] as const))('%s', (_, declared) => {
    // All registers have the same methods, but none can be called on the union of their types.
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

    it('decodes what it encodes', () => {
      fc.assert(
        fc.property(bitValues(register.fields), (values) => {
          expect(register.decode(register.encode(values))).toMatchObject(values)
        }),
      )
    })

    it('keeps fields that are not given, and reserved bits, of the base word', () => {
      fc.assert(
        fc.property(bitValues(register.fields), word, (values, base) => {
          const encoded = register.encode(values, raw(base))
          const before = register.decode(raw(base))
          expect(register.decode(encoded)).toEqual({ ...before, ...values })
          expect(BigInt(encoded) & ~fieldMask).toBe(base & ~fieldMask)
        }),
      )
    })

    it('formats any word, and shows reserved bits that are set', () => {
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

  describe('registersOf', () => {
    const names = (cap: bigint) => registersOf(cap).map(({ name }) => name)

    it('returns the registers of every controller if CAP reports no others', () => {
      expect(names(0n)).toEqual(['CAP', 'VS', 'INTMS', 'INTMC', 'CC', 'CSTS', 'AQA', 'ASQ', 'ACQ', 'CRTO'])
    })

    it('returns all registers if CAP reports subsystem reset (36), boot partitions (45), PMR (56), CMB (57) and subsystem shutdown (58)', () => {
      expect(names((1n << 36n) | (1n << 45n) | (0b111n << 56n))).toEqual(registers.map(({ name }) => name))
      expect(names(1n << 45n).filter((name) => name.startsWith('BP'))).toEqual(['BPINFO', 'BPRSEL', 'BPMBL'])
      expect(names(1n << 58n)).toContain('NSSD')
    })
  })
})

describe('register at', () => {
  describe('a register by its offset in BAR0 (Base 2.1 §3.1.4)', () => {
    it.each([
      [0x00, 'CAP'],
      [0x04, 'CAP upper half'],
      [0x14, 'CC'],
      [0x1c, 'CSTS'],
      [0x28, 'ASQ'],
      [0x2c, 'ASQ upper half'],
      [0x34, 'ACQ upper half'],
      // Reserved between CC and CSTS, vendor specific, and after the declared registers.
      [0x18, '0x18'],
      [0xf00, '0xf00'],
      [0x1000, '0x1000'],
    ])('%i is called %s', (offset, name) => {
      expect(registerNameAt(offset)).toBe(name)
    })

    it('a byte inside a register belongs to that register', () => {
      expect(registerAt(0x07)?.name).toBe('CAP')
      expect(registerAt(0x08)?.name).toBe('VS')
      expect(registerAt(0x18)).toBeUndefined()
    })

    it.each([
      [0x1c, 0x9, 'CSTS=0x00000009 { RDY=1 CFS=0 SHST=COMPLETE NSSRO=0 PP=0 ST=0 }'],
      [0x28, 0x1_2345_6000n, 'ASQ=0x0000000123456000 { ASQB=0x123456 }'],
      // Half of a register, a value across two registers, and no register.
      [0x28, 0x2345_6000, '0x23456000'],
      [0x14, 0x46_0001n, '0x460001'],
      [0x18, 7, '0x7'],
    ])('at %i, %s is formatted as %s', (offset, value, text) => {
      expect(formatRegisterAt(offset, value)).toBe(text)
    })
  })
})
