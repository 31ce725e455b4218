import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  AccessControlServices,
  AddressTranslationServices,
  capabilities,
  DownstreamPortContainment,
  extendedCapabilities,
  findCapability,
  findExtendedCapability,
  MsixCapability,
  msixLayout,
  MsixTableEntry,
  PCI_CAPABILITY,
  PCI_CONFIG_BYTES,
  PCI_EXTENDED_CAPABILITY,
  PciCapability,
  PciConfigError,
  PCIE_CONFIG_BYTES,
  PciExtendedCapability,
  PowerManagementCapability,
  ResizableBarEntry,
} from './capabilities.js'
import { fromHex } from '../../test/bytes.js'
import { describeRows, places, wordOf } from '../../test/rows.js'

describe('capabilities', () => {
  /** Configuration space of a drive: the list 80h PM, 90h MSI-X, C0h PCI Express; 100h AER, 2A0h LTR. */
  function drive(): DataView {
    const config = new DataView(new ArrayBuffer(4096))
    config.setUint16(0x00, 0x15b7, true)
    config.setUint16(0x06, 0x0010, true)
    config.setUint8(0x34, 0x80)
    config.setUint16(0x80, 0x9001, true)
    config.setUint16(0x90, 0xc011, true)
    config.setUint16(0xc0, 0x0010, true)
    config.setUint32(0x100, 0x2a02_0001, true)
    config.setUint32(0x2a0, 0x0001_0018, true)
    return config
  }

  describe('capability list', () => {
    it('is read from the Capabilities Pointer (34h) to a Next Capability of 0', () => {
      expect(capabilities(drive())).toEqual([
        { id: 0x01, offset: 0x80 },
        { id: 0x11, offset: 0x90 },
        { id: 0x10, offset: 0xc0 },
      ])
      expect(findCapability(drive(), PCI_CAPABILITY.MSI_X)).toBe(0x90)
      expect(findCapability(drive(), PCI_CAPABILITY.MSI)).toBeUndefined()
    })

    it('PciCapability is an ID and a pointer', () => {
      expect(PciCapability.decode(drive(), 0x80)).toEqual({ CID: 0x01, NEXT: 0x90 })
      expect(PciCapability.bytes).toBe(2)
    })

    it('is empty if Status reports no list', () => {
      const config = drive()
      config.setUint16(0x06, 0, true)
      expect(capabilities(config)).toEqual([])
    })

    it('ignores bits 1:0 of a pointer, which are reserved', () => {
      const config = drive()
      config.setUint8(0x81, 0x93)
      expect(capabilities(config)[1]).toEqual({ id: 0x11, offset: 0x90 })
    })

    it('throws if the list loops, instead of hanging', () => {
      const config = drive()
      config.setUint8(0xc1, 0x90)
      expect(() => capabilities(config)).toThrow(PciConfigError)
      expect(() => capabilities(config)).toThrow(
        'PCI capability list: loops back to 0x90\n' +
          '  Try: read configuration space again; if the error persists, the device or its emulation is broken',
      )
    })

    it('throws if a pointer is inside the header', () => {
      const config = drive()
      config.setUint8(0x91, 0x10)
      expect(() => capabilities(config)).toThrow('invalid pointer to 0x10')
    })

    it('throws if configuration space reads all ones', () => {
      const config = new DataView(new Uint8Array(4096).fill(0xff).buffer)
      expect(() => capabilities(config)).toThrow('configuration space reads all ones')
      expect(() => capabilities(config)).toThrow(expect.objectContaining({ code: 'ERR_GPUNVME_PCI_CONFIG' }))
      expect(extendedCapabilities(config)).toEqual([])
    })

    it('rejects the 64 bytes that Linux shows to users other than root', () => {
      expect(PCI_CONFIG_BYTES).toBe(256) // PCI_CFG_SPACE_SIZE
      expect(() => capabilities(new DataView(new ArrayBuffer(64)))).toThrow(
        new RangeError(
          'configuration space: expected 256 bytes, got 64; run as root: other users see only the first 64 bytes of ' +
            '/sys/bus/pci/devices/*/config',
        ),
      )
    })

    it.each([
      ['POWER_MANAGEMENT', 0x01], // PCI_CAP_ID_PM
      ['VITAL_PRODUCT_DATA', 0x03], // PCI_CAP_ID_VPD
      ['MSI', 0x05],
      ['VENDOR_SPECIFIC', 0x09], // PCI_CAP_ID_VNDR
      ['PCI_EXPRESS', 0x10], // PCI_CAP_ID_EXP
      ['MSI_X', 0x11], // PCI_CAP_ID_MSIX
      ['ENHANCED_ALLOCATION', 0x14], // PCI_CAP_ID_EA
    ])('%s has the ID of linux/pci_regs.h', (name, id) => {
      expect(PCI_CAPABILITY.nameOf(id)).toBe(name)
    })
  })

  describe('extended capabilities', () => {
    it('are read from 100h to a Next Pointer of 0', () => {
      expect(extendedCapabilities(drive())).toEqual([
        { id: 0x0001, offset: 0x100 },
        { id: 0x0018, offset: 0x2a0 },
      ])
      expect(findExtendedCapability(drive(), PCI_EXTENDED_CAPABILITY.LATENCY_TOLERANCE_REPORTING)).toBe(0x2a0)
      expect(findExtendedCapability(drive(), PCI_EXTENDED_CAPABILITY.RESIZABLE_BAR)).toBeUndefined()
    })

    // PCI_EXT_CAP_ID(), PCI_EXT_CAP_VER() and PCI_EXT_CAP_NEXT()
    describeRows([
      [wordOf(PciExtendedCapability, 'HEADER'), { CID: 0x0000_ffffn, CVER: 0x000f_0000n, NEXT: 0xfff0_0000n }],
    ])

    it('are empty if 100h reads 0', () => {
      const config = drive()
      config.setUint32(0x100, 0, true)
      expect(extendedCapabilities(config)).toEqual([])
    })

    it('throw if pointers loop or are below 100h', () => {
      const config = drive()
      config.setUint32(0x2a0, 0x1001_0018, true)
      expect(() => extendedCapabilities(config)).toThrow('loops back to 0x100')
      config.setUint32(0x2a0, 0x0801_0018, true)
      expect(() => extendedCapabilities(config)).toThrow('invalid pointer to 0x80')
    })

    it('require all 4096 bytes', () => {
      expect(PCIE_CONFIG_BYTES).toBe(4096) // PCI_CFG_SPACE_EXP_SIZE
      expect(() => extendedCapabilities(new DataView(new ArrayBuffer(256)))).toThrow('expected 4096 bytes, got 256')
    })

    it.each([
      ['ADVANCED_ERROR_REPORTING', 0x01], // PCI_EXT_CAP_ID_ERR
      ['VIRTUAL_CHANNEL', 0x02], // _VC
      ['DEVICE_SERIAL_NUMBER', 0x03], // _DSN
      ['POWER_BUDGETING', 0x04], // _PWR
      ['VENDOR_SPECIFIC', 0x0b], // _VNDR
      ['ACCESS_CONTROL_SERVICES', 0x0d], // _ACS
      ['ALTERNATIVE_ROUTING_ID', 0x0e], // _ARI
      ['ADDRESS_TRANSLATION_SERVICES', 0x0f], // _ATS
      ['SINGLE_ROOT_IO_VIRTUALIZATION', 0x10], // _SRIOV
      ['RESIZABLE_BAR', 0x15], // _REBAR
      ['DYNAMIC_POWER_ALLOCATION', 0x16], // _DPA
      ['LATENCY_TOLERANCE_REPORTING', 0x18], // _LTR
      ['SECONDARY_PCI_EXPRESS', 0x19], // _SECPCI
      ['L1_PM_SUBSTATES', 0x1e], // _L1SS
      ['PRECISION_TIME_MEASUREMENT', 0x1f], // _PTM
      ['DESIGNATED_VENDOR_SPECIFIC', 0x23], // _DVSEC
      ['DATA_LINK_FEATURE', 0x25], // _DLF
      ['PHYSICAL_LAYER_16_GT', 0x26], // _PL_16GT
      ['DATA_OBJECT_EXCHANGE', 0x2e], // _DOE
    ])('%s has the ID of linux/pci_regs.h', (name, id) => {
      expect(PCI_EXTENDED_CAPABILITY.nameOf(id)).toBe(name)
    })
  })

  it('any bytes are read as a list, or throw a PciConfigError', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 4096, maxLength: 4096, size: 'max' }), (bytes) => {
        const config = new DataView(bytes.slice().buffer)
        for (const read of [capabilities, extendedCapabilities]) {
          try {
            expect(read(config).length).toBeLessThanOrEqual(960)
          } catch (error) {
            expect(error).toBeInstanceOf(PciConfigError)
          }
        }
      }),
      { numRuns: 100 },
    )
  })
})

describe('power management', () => {
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
})

describe('msi x', () => {
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

    it('has 17 vectors, a table in BAR0 after the doorbells and pending bits in BAR4', () => {
      const config = fromHex('a5 a5 a5 a5  11 c0 10 80  00 20 00 00  04 30 00 00')
      expect(msixLayout(config, 4)).toEqual({
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
})

describe('peer to peer', () => {
  const acs = { SV: 0x1n, TB: 0x2n, RR: 0x4n, CR: 0x8n, UF: 0x10n, EC: 0x20n, DT: 0x40n }

  // Offsets and masks of Linux 6.1 linux/pci_regs.h.
  describe('registers that decide peer-to-peer reachability (linux/pci_regs.h)', () => {
    it('have the offsets of the header', () => {
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
      // Linux 6.1 masks sizes up to 512 GiB, 0x00FFFFF0; later releases up to 128 TiB.
      [wordOf(ResizableBarEntry, 'REBARCAP'), { SIZES: 0xffff_fff0n }],
      [wordOf(ResizableBarEntry, 'REBARCTL'), { BAR_IDX: 0x7n, NBAR: 0xe0n, BAR_SIZE: 0x1f00n }],
      [wordOf(DownstreamPortContainment, 'DPCCTL'), { EN_FATAL: 0x1n, EN_NONFATAL: 0x2n }],
      [wordOf(DownstreamPortContainment, 'DPCSTS'), { TRIGGER: 0x1n }],
    ])
  })
})
