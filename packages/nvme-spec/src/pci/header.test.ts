import { describe, expect, it } from 'vitest'
import { fromHex } from '../../test/bytes.js'
import { describeRows, wordOf } from '../../test/rows.js'
import { baseAddresses, NVME_CLASS_CODE, PciHeader } from './header.js'

// Assembled by hand at the offsets of linux/pci_regs.h: PCI_VENDOR_ID 00h … PCI_MAX_LAT 3Fh.
const header = () =>
  fromHex(`b7 15 09 50  06 04 10 00  01 02 08 01  10 40 80 c0
           04 00 c0 fc  01 00 00 00  00 00 00 00  00 00 00 00
           01 e0 00 00  08 00 00 d0  00 00 00 00  b8 15 0a 50
           01 00 00 e0  80 00 00 00  00 00 00 00  0b 01 02 03`)

describe('configuration space header (PCIe 1.2 §3.8.1, Linux 6.1 linux/pci_regs.h)', () => {
  it('PciHeader is 64 bytes, with these fields', () => {
    expect(PciHeader.bytes).toBe(64)
    expect(PciHeader.decode(header())).toEqual({
      ...{ VID: 0x15b7, DID: 0x5009, RID: 1, PI: 0x02, SCC: 0x08, BCC: 0x01, CLS: 0x10, MLT: 0x40 },
      CMD: {
        ...{ IOSE: 0, MSE: 1, BME: 1, SCE: 0, MWIE: 0, VGA: 0, PEE: 0, ISWCC: 0, SEE: 0, FBE: 0, ID: 1 },
      },
      STS: {
        ...{ IR: 0, IS: 0, CL: 1, C66: 0, FBC: 0, DPD: 0, DEVT: 0, STA: 0, RTA: 0, RMA: 0, SSE: 0, DPE: 0 },
      },
      HTYPE: { HL: 0, MFD: 1 },
      BIST: { CC: 0, SB: 1, BC: 1 },
      BAR: [
        { RTE: 0, TP: 2, PF: 0, BA: 0xfcc_0000 },
        { RTE: 1, TP: 0, PF: 0, BA: 0 },
        { RTE: 0, TP: 0, PF: 0, BA: 0 },
        { RTE: 0, TP: 0, PF: 0, BA: 0 },
        { RTE: 1, TP: 0, PF: 0, BA: 0xe00 },
        { RTE: 0, TP: 0, PF: 1, BA: 0xd00_0000 },
      ],
      ...{ CCPTR: 0, SSVID: 0x15b8, SSID: 0x500a, EROM: 0xe000_0001, CAP: 0x80 },
      ...{ ILINE: 11, IPIN: 1, MGNT: 2, MLAT: 3 },
    })
  })

  describeRows([
    [
      wordOf(PciHeader, 'CMD'), // PCI_COMMAND_*
      {
        IOSE: 0x1n,
        MSE: 0x2n,
        BME: 0x4n,
        SCE: 0x8n,
        MWIE: 0x10n,
        VGA: 0x20n,
        PEE: 0x40n,
        ISWCC: 0x80n,
        SEE: 0x100n,
        FBE: 0x200n,
        ID: 0x400n,
      },
    ],
    [
      wordOf(PciHeader, 'STS'), // PCI_STATUS_*
      {
        IR: 0x1n,
        IS: 0x8n,
        CL: 0x10n,
        C66: 0x20n,
        FBC: 0x80n,
        DPD: 0x100n,
        DEVT: 0x600n,
        STA: 0x800n,
        RTA: 0x1000n,
        RMA: 0x2000n,
        SSE: 0x4000n,
        DPE: 0x8000n,
      },
    ],
    [wordOf(PciHeader, 'HTYPE'), { HL: 0x7fn, MFD: 0x80n }], // PCI_HEADER_TYPE_MASK
    [wordOf(PciHeader, 'BIST'), { CC: 0x0fn, SB: 0x40n, BC: 0x80n }], // PCI_BIST_*
    [wordOf(PciHeader, 'BAR'), { RTE: 0x1n, TP: 0x6n, PF: 0x8n, BA: 0xffff_fff0n }], // PCI_BASE_ADDRESS_*
  ])

  it('the class code of an NVMe controller is 010802h', () => {
    const { BCC, SCC, PI } = PciHeader.view(header())
    expect(NVME_CLASS_CODE).toBe(0x010802) // Linux 6.1 linux/pci_ids.h PCI_CLASS_STORAGE_EXPRESS
    expect((BCC << 16) | (SCC << 8) | PI).toBe(NVME_CLASS_CODE)
  })
})

describe('baseAddresses', () => {
  it('joins 64-bit registers, and distinguishes memory from I/O space', () => {
    expect(baseAddresses(header())).toEqual([
      { bar: 0, space: 'memory', widthBits: 64, prefetchable: false, address: 0x1_fcc0_0000n },
      { bar: 4, space: 'io', widthBits: 32, prefetchable: false, address: 0xe000n },
      { bar: 5, space: 'memory', widthBits: 32, prefetchable: true, address: 0xd000_0000n },
    ])
  })

  it('reads a 64-bit register in the last place, which has no upper half', () => {
    const data = new DataView(new ArrayBuffer(64))
    data.setUint32(0x24, 0xf000_000c, true)
    expect(baseAddresses(data)).toEqual([
      { bar: 5, space: 'memory', widthBits: 64, prefetchable: true, address: 0xf000_0000n },
    ])
  })
})
