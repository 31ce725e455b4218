import { describe, expect, it } from 'vitest'
import { describeRows, places, wordOf } from '../../test/rows.js'
import { PowerManagementCapability } from './power-management.js'

describe('PCI Power Management capability (PCIe 1.2 §3.8.2)', () => {
  it('PowerManagementCapability has the registers of Figure 30', () => {
    expect(PowerManagementCapability.bytes).toBe(8) // PCI_PM_SIZEOF
    expect(places(PowerManagementCapability)).toEqual([
      ['CID', 0, 1],
      ['NEXT', 1, 1],
      ['PC', 2, 2],
      ['PMCS', 4, 2],
    ])
  })

  describeRows([
    [
      wordOf(PowerManagementCapability, 'PC'), // Figure 32, PCI_PM_CAP_*
      { VS: 0x0007n, PMEC: 0x0008n, DSI: 0x0020n, AUXC: 0x01c0n, D1S: 0x0200n, D2S: 0x0400n, PSUP: 0xf800n },
    ],
    [
      wordOf(PowerManagementCapability, 'PMCS'), // Figure 33, PCI_PM_CTRL_*
      { PS: 0x0003n, NSFRST: 0x0008n, PMEE: 0x0100n, DSE: 0x1e00n, DSC: 0x6000n, PMES: 0x8000n },
    ],
  ])

  it('power states are D0, D1, D2 and D3hot', () => {
    expect([0, 1, 2, 3].map((ps) => PowerManagementCapability.PMCS.PS.nameOf(ps)).join(' ')).toBe('D0 D1 D2 D3HOT')
  })
})
