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
      ['ACSCAP', 4, 2], // PCI_ACS_CAP
      ['ACSCTL', 6, 2], // PCI_ACS_CTRL
    ])
    expect(places(AddressTranslationServices)).toEqual([
      ['ATSCTL', 6, 2], // PCI_ATS_CTRL
    ])
    // PCI_REBAR_CAP and PCI_REBAR_CTRL are 4 and 8 from the capability, and 8 more for each BAR.
    expect(places(ResizableBarEntry)).toEqual([
      ['REBARCAP', 0, 4],
      ['REBARCTL', 4, 4],
    ])
    expect(ResizableBarEntry.bytes).toBe(8)
    expect(places(DownstreamPortContainment)).toEqual([
      ['DPCCTL', 6, 2], // PCI_EXP_DPC_CTL
      ['DPCSTS', 8, 2], // PCI_EXP_DPC_STATUS
    ])
  })

  describeRows([
    [wordOf(AccessControlServices, 'ACSCAP'), acs],
    [wordOf(AccessControlServices, 'ACSCTL'), acs],
    [wordOf(AddressTranslationServices, 'ATSCTL'), { ENABLE: 0x8000n }],
    // 6.1 masks sizes up to 512 GiB, 0x00FFFFF0; later ones up to 128 TiB.
    [wordOf(ResizableBarEntry, 'REBARCAP'), { SIZES: 0xffff_fff0n }],
    [wordOf(ResizableBarEntry, 'REBARCTL'), { BAR_IDX: 0x7n, NBAR: 0xe0n, BAR_SIZE: 0x1f00n }],
    [wordOf(DownstreamPortContainment, 'DPCCTL'), { EN_FATAL: 0x1n, EN_NONFATAL: 0x2n }],
    [wordOf(DownstreamPortContainment, 'DPCSTS'), { TRIGGER: 0x1n }],
  ])
})
