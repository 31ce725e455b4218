import { describe, expect, it } from 'vitest'
import { AdvancedErrorReporting, payloadBytes, PciExpressCapability } from './express.js'
import { fromHex } from '../../test/bytes.js'
import { describeRows, places, wordOf } from '../../test/rows.js'

describe('express', () => {
  describe('PCI Express capability (PCIe 1.2 §3.8.5, Linux 6.1 linux/pci_regs.h)', () => {
    it('PciExpressCapability has the registers of Figure 47, and later ones', () => {
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

    // Masks of linux/pci_regs.h, or of Figures 49 to 57 if the header has none.
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
      expect([1, 2, 3, 4, 5, 6, 7].map((cls) => CLS.nameOf(cls)).join(' ')).toBe(
        'GT_2_5 GT_5 GT_8 GT_16 GT_32 GT_64 0x7',
      )
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

    it.each([-1, 6, 7, 1.5])('rejects %d', (code) => {
      expect(() => payloadBytes(code)).toThrow(
        `Max_Payload_Size or Max_Read_Request_Size: expected 0 to 5, got ${code}`,
      )
    })
  })
})

describe('aer', () => {
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

    // Masks of PCI_ERR_UNC_*, PCI_ERR_COR_* and PCI_ERR_CAP_* in Linux 6.1 linux/pci_regs.h.
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

    it('decodes the detected errors and the header of the TLP', () => {
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
})
