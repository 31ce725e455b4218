import { describe, expect, it } from 'vitest'
import { fromHex } from '../../test/bytes.js'
import { describeRows, places, wordOf } from '../../test/rows.js'
import { MsixCapability, msixPlaces, MsixTableEntry } from './msi-x.js'

describe('MSI-X capability (PCIe 1.2 §3.8.4)', () => {
  it('MsixCapability has the registers of Figure 42', () => {
    expect(MsixCapability.bytes).toBe(12)
    expect(places(MsixCapability)).toEqual([
      ['CID', 0, 1],
      ['NEXT', 1, 1],
      ['MXC', 2, 2],
      ['MTAB', 4, 4],
      ['MPBA', 8, 4],
    ])
  })

  describeRows([
    [wordOf(MsixCapability, 'MXC'), { TS: 0x07ffn, FM: 0x4000n, MXE: 0x8000n }], // PCI_MSIX_FLAGS_*
    [wordOf(MsixCapability, 'MTAB'), { TBIR: 0x7n, TO: 0xffff_fff8n }], // PCI_MSIX_TABLE_*
    [wordOf(MsixCapability, 'MPBA'), { PBIR: 0x7n, PBAO: 0xffff_fff8n }], // PCI_MSIX_PBA_*
  ])

  it('17 vectors, whose table and pending bits lie in BAR0 behind the doorbells', () => {
    const config = fromHex('a5 a5 a5 a5  11 c0 10 80  00 20 00 00  04 30 00 00')
    expect(msixPlaces(config, 4)).toEqual({
      vectors: 17,
      table: { bar: 0, offset: 0x2000 },
      pending: { bar: 4, offset: 0x3000 },
    })
  })
})

describe('MSI-X Table entry (Linux 6.1 linux/pci_regs.h, PCI_MSIX_ENTRY_*)', () => {
  it('MsixTableEntry is 16 bytes: address, upper address, data, vector control', () => {
    expect(MsixTableEntry.decode(fromHex('00 00 e0 fe  01 00 00 00  21 40 00 00  01 00 00 00'))).toEqual({
      LOWER_ADDR: 0xfee0_0000,
      UPPER_ADDR: 1,
      DATA: 0x4021,
      VECTOR_CTRL: { MASKBIT: 1 },
    })
    expect(MsixTableEntry.bytes).toBe(16)
  })
})
