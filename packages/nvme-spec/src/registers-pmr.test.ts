import { describe, expect, it } from 'vitest'
import { describeRows } from '../test/rows.js'
import { PMRCAP, PMRCTL, PMREBS, PMRMSCL, PMRMSCU, PMRSTS, PMRSWTP } from './registers-pmr.js'

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
