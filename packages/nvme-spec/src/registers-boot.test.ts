import { describe, expect, it } from 'vitest'
import { describeRows } from '../test/rows.js'
import { BPINFO, BPMBL, BPRSEL } from './registers-boot.js'

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

  it('a read is under way (01b), has succeeded (10b) or failed (11b)', () => {
    expect([0, 1, 2, 3].map((brs) => BPINFO.BRS.nameOf(brs)).join(' ')).toBe('NONE IN_PROGRESS SUCCESS ERROR')
    expect(BPINFO.format(0x8200_0008)).toBe('BPINFO=0x82000008 { BPSZ=8 BRS=SUCCESS ABPID=1 }')
  })
})
