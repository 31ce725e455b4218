import { describe, expect, it } from 'vitest'
import { describeRows, places, wordOf } from '../../test/rows.js'
import { payloadBytes, PciExpressCapability } from './express.js'

describe('PCI Express capability (PCIe 1.2 §3.8.5, Linux 6.1 linux/pci_regs.h)', () => {
  it('PciExpressCapability has the registers of Figure 47, and those that came later', () => {
    expect(PciExpressCapability.bytes).toBe(0x34)
    expect(places(PciExpressCapability)).toEqual([
      ['CID', 0x00, 1],
      ['NEXT', 0x01, 1],
      ['PXCAP', 0x02, 2], // PCI_EXP_FLAGS
      ['PXDCAP', 0x04, 4], // PCI_EXP_DEVCAP
      ['PXDC', 0x08, 2], // PCI_EXP_DEVCTL
      ['PXDS', 0x0a, 2], // PCI_EXP_DEVSTA
      ['PXLCAP', 0x0c, 4], // PCI_EXP_LNKCAP
      ['PXLC', 0x10, 2], // PCI_EXP_LNKCTL
      ['PXLS', 0x12, 2], // PCI_EXP_LNKSTA
      ['PXDCAP2', 0x24, 4], // PCI_EXP_DEVCAP2
      ['PXDC2', 0x28, 2], // PCI_EXP_DEVCTL2
      ['PXDS2', 0x2a, 2], // PCI_EXP_DEVSTA2
      ['PXLCAP2', 0x2c, 4], // PCI_EXP_LNKCAP2
      ['PXLC2', 0x30, 2], // PCI_EXP_LNKCTL2
      ['PXLS2', 0x32, 2], // PCI_EXP_LNKSTA2
    ])
  })

  // Masks of linux/pci_regs.h; where it has none, of Figures 49 to 57.
  describeRows([
    [wordOf(PciExpressCapability, 'PXCAP'), { VER: 0x000fn, DPT: 0x00f0n, SI: 0x0100n, IMN: 0x3e00n }],
    [
      wordOf(PciExpressCapability, 'PXDCAP'),
      {
        MPS: 0x0000_0007n,
        PFS: 0x0000_0018n,
        ETFS: 0x0000_0020n,
        L0SL: 0x0000_01c0n,
        L1L: 0x0000_0e00n,
        RER: 0x0000_8000n,
        CSPLV: 0x03fc_0000n,
        CSPLS: 0x0c00_0000n,
        FLRC: 0x1000_0000n,
      },
    ],
    [
      wordOf(PciExpressCapability, 'PXDC'),
      {
        CERE: 0x0001n,
        NFERE: 0x0002n,
        FERE: 0x0004n,
        URRE: 0x0008n,
        ERO: 0x0010n,
        MPS: 0x00e0n,
        ETE: 0x0100n,
        PFE: 0x0200n,
        APPME: 0x0400n,
        ENS: 0x0800n,
        MRRS: 0x7000n,
        IFLR: 0x8000n,
      },
    ],
    [wordOf(PciExpressCapability, 'PXDS'), { CED: 0x1n, NFED: 0x2n, FED: 0x4n, URD: 0x8n, APD: 0x10n, TP: 0x20n }],
    [
      wordOf(PciExpressCapability, 'PXLCAP'),
      {
        SLS: 0x0000_000fn,
        MLW: 0x0000_03f0n,
        ASPMS: 0x0000_0c00n,
        L0SEL: 0x0000_7000n,
        L1EL: 0x0003_8000n,
        CPM: 0x0004_0000n,
        SDERC: 0x0008_0000n,
        DLLA: 0x0010_0000n,
        LBNC: 0x0020_0000n,
        AOC: 0x0040_0000n,
        PN: 0xff00_0000n,
      },
    ],
    [
      wordOf(PciExpressCapability, 'PXLC'),
      {
        ASPMC: 0x0003n,
        RCB: 0x0008n,
        LD: 0x0010n,
        RL: 0x0020n,
        CCC: 0x0040n,
        ES: 0x0080n,
        ECPM: 0x0100n,
        HAWD: 0x0200n,
        LBMIE: 0x0400n,
        LABIE: 0x0800n,
      },
    ],
    [
      wordOf(PciExpressCapability, 'PXLS'),
      { CLS: 0x000fn, NLW: 0x03f0n, LT: 0x0800n, SCC: 0x1000n, DLLLA: 0x2000n, LBMS: 0x4000n, LABS: 0x8000n },
    ],
    [
      wordOf(PciExpressCapability, 'PXDCAP2'),
      {
        CTRS: 0x0000_000fn,
        CTDS: 0x0000_0010n,
        ARIFS: 0x0000_0020n,
        AORS: 0x0000_0040n,
        AOCS32: 0x0000_0080n,
        AOCS64: 0x0000_0100n,
        CCS128: 0x0000_0200n,
        NPRPR: 0x0000_0400n,
        LTRS: 0x0000_0800n,
        TPHCS: 0x0000_3000n,
        OBFFS: 0x000c_0000n,
        EFFS: 0x0010_0000n,
        EETPS: 0x0020_0000n,
        MEETP: 0x00c0_0000n,
      },
    ],
    [
      wordOf(PciExpressCapability, 'PXDC2'),
      {
        CTV: 0x000fn,
        CTD: 0x0010n,
        ARI: 0x0020n,
        ATOMIC_REQ: 0x0040n,
        ATOMIC_EGRESS_BLOCK: 0x0080n,
        IDO_REQ_EN: 0x0100n,
        IDO_CMP_EN: 0x0200n,
        LTRME: 0x0400n,
        OBFFE: 0x6000n,
      },
    ],
    [
      wordOf(PciExpressCapability, 'PXLCAP2'),
      {
        SLS_2_5GB: 0x0002n,
        SLS_5_0GB: 0x0004n,
        SLS_8_0GB: 0x0008n,
        SLS_16_0GB: 0x0010n,
        SLS_32_0GB: 0x0020n,
        SLS_64_0GB: 0x0040n,
        CROSSLINK: 0x0100n,
      },
    ],
    [wordOf(PciExpressCapability, 'PXLC2'), { TLS: 0x000fn, ENTER_COMP: 0x0010n, HASD: 0x0020n, TX_MARGIN: 0x0380n }],
  ])

  it('a link of four lanes at 8 GT/s reads 0043h', () => {
    const { CLS, NLW } = PciExpressCapability.PXLS
    expect([CLS.nameOf(CLS.of(0x0043)), NLW.of(0x0043)]).toEqual(['GT_8', 4])
    expect([1, 2, 3, 4, 5, 6, 7].map((cls) => CLS.nameOf(cls)).join(' ')).toBe('GT_2_5 GT_5 GT_8 GT_16 GT_32 GT_64 0x7')
  })
})

describe('payloadBytes', () => {
  it.each([
    [0, 128], // PCI_EXP_DEVCTL_PAYLOAD_128B, PCI_EXP_DEVCTL_READRQ_128B
    [1, 256],
    [2, 512],
    [3, 1024],
    [4, 2048],
    [5, 4096],
  ])('%i is %i bytes', (code, bytes) => {
    expect(payloadBytes(code)).toBe(bytes)
  })

  it.each([-1, 6, 7, 1.5])('there is no %d', (code) => {
    expect(() => payloadBytes(code)).toThrow(`Max_Payload_Size or Max_Read_Request_Size: expected 0 to 5, got ${code}`)
  })
})
