import { describe, expect, it } from 'vitest'
import { describeRows, places, wordOf } from '../../test/rows.js'
import {
  AccessControlServices,
  AddressTranslationServices,
  DownstreamPortContainment,
  ResizableBarEntry,
} from './peer-to-peer.js'

const acs = { SV: 0x1n, TB: 0x2n, RR: 0x4n, CR: 0x8n, UF: 0x10n, EC: 0x20n, DT: 0x40n }

// Offsets and masks as Linux 6.1 linux/pci_regs.h has them.
describe('what decides who may reach whom (linux/pci_regs.h)', () => {
  it('the registers stand where the header places them', () => {
    expect(places(AccessControlServices)).toEqual([
      ['HEADER', 0, 4],
      ['ACSCAP', 4, 2], // PCI_ACS_CAP
      ['ACSCTL', 6, 2], // PCI_ACS_CTRL
    ])
    expect(places(AddressTranslationServices)).toEqual([
      ['HEADER', 0, 4],
      ['ATSCAP', 4, 2], // PCI_ATS_CAP
      ['ATSCTL', 6, 2], // PCI_ATS_CTRL
    ])
    // PCI_REBAR_CAP and PCI_REBAR_CTRL are 4 and 8 from the capability, and 8 more for each BAR.
    expect(places(ResizableBarEntry)).toEqual([
      ['REBARCAP', 0, 4],
      ['REBARCTL', 4, 4],
    ])
    expect(ResizableBarEntry.bytes).toBe(8)
    expect(places(DownstreamPortContainment)).toEqual([
      ['HEADER', 0, 4],
      ['DPCCAP', 4, 2], // PCI_EXP_DPC_CAP
      ['DPCCTL', 6, 2], // PCI_EXP_DPC_CTL
      ['DPCSTS', 8, 2], // PCI_EXP_DPC_STATUS
      ['SOURCE_ID', 0xa, 2], // PCI_EXP_DPC_SOURCE_ID
    ])
  })

  describeRows([
    [wordOf(AccessControlServices, 'ACSCAP'), { ...acs, EGRESS: 0xff00n }], // PCI_ACS_EGRESS_BITS: a byte at 5
    [wordOf(AccessControlServices, 'ACSCTL'), acs],
    [wordOf(AddressTranslationServices, 'ATSCAP'), { QDEP: 0x1fn, PAGE_ALIGNED: 0x20n }],
    [wordOf(AddressTranslationServices, 'ATSCTL'), { STU: 0x1fn, ENABLE: 0x8000n }],
    // 6.1 masks sizes up to 512 GiB, 0x00FFFFF0; later ones up to 128 TiB.
    [wordOf(ResizableBarEntry, 'REBARCAP'), { SIZES: 0xffff_fff0n }],
    [wordOf(ResizableBarEntry, 'REBARCTL'), { BAR_IDX: 0x7n, NBAR: 0xe0n, BAR_SIZE: 0x1f00n }],
    [
      wordOf(DownstreamPortContainment, 'DPCCAP'),
      {
        IRQ: 0x1fn,
        RP_EXT: 0x20n,
        POISONED_TLP: 0x40n,
        SW_TRIGGER: 0x80n,
        RP_PIO_LOG_SIZE: 0xf00n,
        DL_ACTIVE: 0x1000n,
      },
    ],
    [wordOf(DownstreamPortContainment, 'DPCCTL'), { EN_FATAL: 0x1n, EN_NONFATAL: 0x2n, INT_EN: 0x8n }],
    [
      wordOf(DownstreamPortContainment, 'DPCSTS'),
      {
        TRIGGER: 0x1n,
        TRIGGER_RSN: 0x6n,
        INTERRUPT: 0x8n,
        RP_BUSY: 0x10n,
        TRIGGER_RSN_EXT: 0x60n,
        RP_PIO_FEP: 0x1f00n,
      },
    ],
  ])
})
