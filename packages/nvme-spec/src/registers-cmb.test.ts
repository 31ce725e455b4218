import { describe, expect, it } from 'vitest'
import { describeRows } from '../test/rows.js'
import { CMBEBS, CMBLOC, CMBMSC, CMBSTS, CMBSWTP, CMBSZ } from './registers-cmb.js'

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
