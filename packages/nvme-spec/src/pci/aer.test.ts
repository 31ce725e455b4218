import { describe, expect, it } from 'vitest'
import { fromHex } from '../../test/bytes.js'
import { describeRows, places, wordOf } from '../../test/rows.js'
import { AdvancedErrorReporting } from './aer.js'

describe('Advanced Error Reporting (PCIe 1.2 §3.8.6)', () => {
  it('AdvancedErrorReporting has the registers of Figure 58', () => {
    expect(AdvancedErrorReporting.bytes).toBe(0x48)
    expect(places(AdvancedErrorReporting)).toEqual([
      ['AERID', 0x00, 4],
      ['AERUCES', 0x04, 4],
      ['AERUCEM', 0x08, 4],
      ['AERUCESV', 0x0c, 4],
      ['AERCES', 0x10, 4],
      ['AERCEM', 0x14, 4],
      ['AERCC', 0x18, 4],
      ['AERHL', 0x1c, 16],
      ['AERTLP', 0x38, 16],
    ])
  })

  // Masks as PCI_ERR_UNC_*, PCI_ERR_COR_* and PCI_ERR_CAP_* of Linux 6.1 linux/pci_regs.h have them.
  describeRows([
    [wordOf(AdvancedErrorReporting, 'AERID'), { CID: 0xffffn, CVER: 0xf_0000n, NEXT: 0xfff0_0000n }],
    [
      wordOf(AdvancedErrorReporting, 'AERUCES'),
      {
        DLPES: 0x10n,
        PTS: 0x1000n,
        FCPES: 0x2000n,
        CTS: 0x4000n,
        CAS: 0x8000n,
        UCS: 0x10000n,
        ROS: 0x20000n,
        MTS: 0x40000n,
        ECRCES: 0x80000n,
        URES: 0x100000n,
        ACSSVS: 0x200000n,
        UIES: 0x400000n,
        MCBTS: 0x800000n,
        AOEBS: 0x1000000n,
        TPBES: 0x2000000n,
      },
    ],
    [
      wordOf(AdvancedErrorReporting, 'AERUCEM'),
      {
        DLPEM: 0x10n,
        PTM: 0x1000n,
        FCPEM: 0x2000n,
        CTM: 0x4000n,
        CAM: 0x8000n,
        UCM: 0x10000n,
        ROM: 0x20000n,
        MTM: 0x40000n,
        ECRCM: 0x80000n,
        UREM: 0x100000n,
        ACVM: 0x200000n,
        UIEM: 0x400000n,
        MCBTM: 0x800000n,
        AOEBM: 0x1000000n,
        TPBEM: 0x2000000n,
      },
    ],
    [
      wordOf(AdvancedErrorReporting, 'AERUCESV'),
      {
        DLPESEV: 0x10n,
        PTSEV: 0x1000n,
        FCPESEV: 0x2000n,
        CTSEV: 0x4000n,
        CASEV: 0x8000n,
        UCSEV: 0x10000n,
        ROSEV: 0x20000n,
        MTSV: 0x40000n,
        ECRCSEV: 0x80000n,
        URESEV: 0x100000n,
        ACSVSEV: 0x200000n,
        UIESEV: 0x400000n,
        MCBTSEV: 0x800000n,
        AOEBSEV: 0x1000000n,
        TPBESEV: 0x2000000n,
      },
    ],
    [
      wordOf(AdvancedErrorReporting, 'AERCES'),
      { RES: 0x1n, BTS: 0x40n, BDS: 0x80n, RRS: 0x100n, RTS: 0x1000n, ANFES: 0x2000n, CIES: 0x4000n, HLOS: 0x8000n },
    ],
    [
      wordOf(AdvancedErrorReporting, 'AERCEM'),
      { REM: 0x1n, BTM: 0x40n, BDM: 0x80n, RRM: 0x100n, RTM: 0x1000n, ANFEM: 0x2000n, CIEM: 0x4000n, HLOM: 0x8000n },
    ],
    [
      wordOf(AdvancedErrorReporting, 'AERCC'),
      { FEP: 0x1fn, EGC: 0x20n, EGE: 0x40n, ECC: 0x80n, ECE: 0x100n, MHRC: 0x200n, MHRE: 0x400n, TPLP: 0x800n },
    ],
  ])

  it('reads as the errors that were found', () => {
    const data = new DataView(new ArrayBuffer(0x48))
    data.setUint32(0x04, 0x0000_4000, true)
    data.setUint32(0x10, 0x0000_0041, true)
    new Uint8Array(data.buffer).set(new Uint8Array(fromHex('01 00 00 60').buffer), 0x1c)
    expect(AdvancedErrorReporting.decode(data)).toMatchObject({
      AERUCES: { CTS: 1, MTS: 0 },
      AERCES: { RES: 1, BTS: 1, BDS: 0 },
      AERHL: Uint32Array.of(0x6000_0001, 0, 0, 0),
    })
  })
})
