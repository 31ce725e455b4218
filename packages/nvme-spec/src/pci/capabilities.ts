import { GpuNvmeError } from '../error.js'
import { bit, bits, codes, count, inHex, struct, u16, u32, u8 } from '../layout/index.js'
import { PciHeader } from './header.js'

/** Length of the configuration space of every function: the header and the capability list. */
export const PCI_CONFIG_BYTES = 256

/** Length of the configuration space of a PCI Express function, with extended capabilities from 100h on. */
export const PCIE_CONFIG_BYTES = 4096

/** Capability IDs that a drive, a GPU or a port may have (Linux 6.1 linux/pci_regs.h, PCI_CAP_ID_*). */
export const PCI_CAPABILITY = codes(
  'PCI_CAPABILITY',
  { doc: 'PCI capability IDs', spec: 'Linux 6.1 linux/pci_regs.h PCI_CAP_ID' },
  {
    POWER_MANAGEMENT: 0x01,
    VITAL_PRODUCT_DATA: 0x03,
    MSI: 0x05,
    VENDOR_SPECIFIC: 0x09,
    PCI_EXPRESS: 0x10,
    MSI_X: 0x11,
    ENHANCED_ALLOCATION: 0x14,
  },
)

/** Extended capability IDs that a drive, a GPU or a port may have (Linux 6.1 linux/pci_regs.h, PCI_EXT_CAP_ID_*). */
export const PCI_EXTENDED_CAPABILITY = codes(
  'PCI_EXTENDED_CAPABILITY',
  { doc: 'PCI Express extended capability IDs', spec: 'Linux 6.1 linux/pci_regs.h PCI_EXT_CAP_ID' },
  {
    ADVANCED_ERROR_REPORTING: 0x0001,
    VIRTUAL_CHANNEL: 0x0002,
    DEVICE_SERIAL_NUMBER: 0x0003,
    POWER_BUDGETING: 0x0004,
    VENDOR_SPECIFIC: 0x000b,
    ACCESS_CONTROL_SERVICES: 0x000d,
    ALTERNATIVE_ROUTING_ID: 0x000e,
    ADDRESS_TRANSLATION_SERVICES: 0x000f,
    SINGLE_ROOT_IO_VIRTUALIZATION: 0x0010,
    RESIZABLE_BAR: 0x0015,
    DYNAMIC_POWER_ALLOCATION: 0x0016,
    LATENCY_TOLERANCE_REPORTING: 0x0018,
    SECONDARY_PCI_EXPRESS: 0x0019,
    DOWNSTREAM_PORT_CONTAINMENT: 0x001d,
    L1_PM_SUBSTATES: 0x001e,
    PRECISION_TIME_MEASUREMENT: 0x001f,
    DESIGNATED_VENDOR_SPECIFIC: 0x0023,
    DATA_LINK_FEATURE: 0x0025,
    PHYSICAL_LAYER_16_GT: 0x0026,
    DATA_OBJECT_EXCHANGE: 0x002e,
  },
)

/** The first two bytes of every capability (PCIe 1.2 §3.8.2.1). */
export const PciCapability = struct(
  'PCI capability',
  { bytes: 2, doc: 'Header of every capability', spec: 'PCIe 1.2 §3.8.2.1' },
  { CID: inHex(u8(0, 'Capability ID')), NEXT: inHex(u8(1, 'Next Capability: its offset, or 0')) },
)

/** The first dword of every extended capability (PCIe 1.2 §3.8.6.1). */
export const PciExtendedCapability = struct(
  'PCI extended capability',
  { bytes: 4, doc: 'First dword of every extended capability', spec: 'PCIe 1.2 §3.8.6.1' },
  {
    HEADER: inHex(
      u32(0, 'Extended capability header', {
        CID: bits(15, 0, 'Capability ID'),
        CVER: bits(19, 16, 'Capability Version'),
        NEXT: bits(31, 20, 'Next Pointer: its offset, or 0'),
      }),
    ),
  },
)

/** A capability in configuration space. */
export interface Capability {
  /** A value of PCI_CAPABILITY or PCI_EXTENDED_CAPABILITY, if it has a name there. */
  readonly id: number
  /** Byte offset in configuration space. */
  readonly offset: number
}

/**
 * Returns the capability list, in its own order; empty if the function has none (STS.CL).
 * @throws RangeError for fewer than 256 bytes, PciConfigError if the list is broken.
 */
export function capabilities(config: DataView): Capability[] {
  need(
    config,
    PCI_CONFIG_BYTES,
    'run as root: other users see only the first 64 bytes of /sys/bus/pci/devices/*/config',
  )
  const { VID, STS, CAP } = PciHeader.view(config)
  if (VID === 0xffff) throw new PciConfigError('configuration space reads all ones', 0, gone)
  if (PciHeader.STS.CL.of(STS) === 0) return []
  // Bits 1:0 of these pointers are reserved.
  return follow(CAP & 0xfc, 0x40, PCI_CONFIG_BYTES, (offset) => {
    const { CID, NEXT } = PciCapability.view(config, offset)
    return { id: CID, next: NEXT & 0xfc }
  })
}

/**
 * Returns the extended capabilities, from 100h on; empty if the function has none.
 * @throws RangeError for fewer than 4096 bytes, PciConfigError if the list is broken.
 */
export function extendedCapabilities(config: DataView): Capability[] {
  need(
    config,
    PCIE_CONFIG_BYTES,
    'read all of /sys/bus/pci/devices/*/config as root; it is 256 bytes long without ECAM',
  )
  const { HEADER } = PciExtendedCapability
  const first = config.getUint32(PCI_CONFIG_BYTES, true)
  if (first === 0 || first === 0xffff_ffff) return []
  return follow(PCI_CONFIG_BYTES, PCI_CONFIG_BYTES, PCIE_CONFIG_BYTES, (offset) => {
    const header = config.getUint32(offset, true)
    return { id: HEADER.CID.of(header), next: HEADER.NEXT.of(header) & 0xffc }
  })
}

/** Returns the byte offset of the capability with this ID; undefined if there is none. @throws as `capabilities`. */
export function findCapability(config: DataView, id: number): number | undefined {
  return capabilities(config).find((capability) => capability.id === id)?.offset
}

/**
 * Returns the byte offset of the extended capability with this ID; undefined if there is none.
 * @throws as `extendedCapabilities`.
 */
export function findExtendedCapability(config: DataView, id: number): number | undefined {
  return extendedCapabilities(config).find((capability) => capability.id === id)?.offset
}

function follow(
  start: number,
  low: number,
  end: number,
  read: (offset: number) => { id: number; next: number },
): Capability[] {
  const found: Capability[] = []
  const visited = new Set<number>()
  for (let offset = start; offset !== 0;) {
    if (offset < low || offset > end - 4) throw new PciConfigError(`invalid pointer to ${hex(offset)}`, offset, broken)
    if (visited.has(offset)) throw new PciConfigError(`loops back to ${hex(offset)}`, offset, broken)
    visited.add(offset)
    const { id, next } = read(offset)
    if (id === (low === PCI_CONFIG_BYTES ? 0xffff : 0xff))
      throw new PciConfigError(`reads all ones at ${hex(offset)}`, offset, gone)
    found.push({ id, offset })
    offset = next
  }
  return found
}

function need(config: DataView, lengthBytes: number, next: string): void {
  if (config.byteLength < lengthBytes)
    throw new RangeError(`configuration space: expected ${lengthBytes} bytes, got ${config.byteLength}; ${next}`)
}

function hex(offset: number): string {
  return `0x${offset.toString(16)}`
}

const gone = 'check that the drive is on the bus (lspci), not in D3cold, and that no link above it is down'
const broken = 'read configuration space again; if the error persists, the device or its emulation is broken'

/** A broken capability list: the device has left the bus, or its configuration space is invalid. */
export class PciConfigError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_PCI_CONFIG'
  readonly category = 'device'
  /** Byte offset in configuration space. */
  readonly offset: number

  constructor(problem: string, offset: number, next: string) {
    super(`PCI capability list: ${problem}`, { next })
    this.offset = offset
  }
}

/** The PCI Power Management capability, PMCAP (PCIe 1.2 §3.8.2, Figures 30 to 33). */
export const PowerManagementCapability = struct(
  'PCI Power Management capability',
  { bytes: 8, doc: 'PCI Power Management', spec: 'PCIe 1.2 §3.8.2' },
  {
    CID: inHex(u8(0, 'Capability ID: 1h')),
    NEXT: inHex(u8(1, 'Next Capability')),
    PC: u16(2, 'Power Management Capabilities', {
      VS: bits(2, 0, 'Version'),
      PMEC: bit(3, 'PME Clock'),
      DSI: bit(5, 'Device Specific Initialization'),
      AUXC: bits(8, 6, 'Aux_Current'),
      D1S: bit(9, 'D1_Support'),
      D2S: bit(10, 'D2_Support'),
      PSUP: bits(15, 11, 'PME Support: D0, D1, D2, D3hot, D3cold'),
    }),
    PMCS: u16(4, 'Power Management Control and Status', {
      PS: bits(1, 0, 'Power State', { D0: 0, D1: 1, D2: 2, D3HOT: 3 }),
      NSFRST: bit(3, 'No Soft Reset'),
      PMEE: bit(8, 'PME Enable'),
      DSE: bits(12, 9, 'Data Select'),
      DSC: bits(14, 13, 'Data Scale'),
      PMES: bit(15, 'PME Status; writing 1 clears it'),
    }),
  },
)

/** The MSI-X capability, MSIXCAP (PCIe 1.2 §3.8.4, Figures 42 to 46). */
export const MsixCapability = struct(
  'MSI-X capability',
  { bytes: 12, doc: 'MSI-X', spec: 'PCIe 1.2 §3.8.4' },
  {
    CID: inHex(u8(0, 'Capability ID: 11h')),
    NEXT: inHex(u8(1, 'Next Pointer')),
    MXC: u16(2, 'MSI-X Message Control', {
      TS: count(10, 0, 'Table Size'),
      FM: bit(14, 'Function Mask'),
      MXE: bit(15, 'MSI-X Enable'),
    }),
    MTAB: u32(4, 'Table Offset and Table BIR', {
      TBIR: bits(2, 0, 'Table BIR: index of the BAR'),
      TO: bits(31, 3, 'Table Offset in units of 8 bytes'),
    }),
    MPBA: u32(8, 'PBA Offset and PBA BIR', {
      PBIR: bits(2, 0, 'PBA BIR: index of the BAR'),
      PBAO: bits(31, 3, 'PBA Offset in units of 8 bytes'),
    }),
  },
)

/** One entry of the MSI-X Table: address and data of a vector's interrupt message (Linux 6.1 PCI_MSIX_ENTRY_*). */
export const MsixTableEntry = struct(
  'MSI-X Table entry',
  { bytes: 16, doc: 'One vector of the MSI-X Table', spec: 'Linux 6.1 linux/pci_regs.h PCI_MSIX_ENTRY' },
  {
    LOWER_ADDR: inHex(u32(0, 'Message Address')),
    UPPER_ADDR: inHex(u32(4, 'Message Upper Address')),
    DATA: inHex(u32(8, 'Message Data')),
    VECTOR_CTRL: u32(12, 'Vector Control', { MASKBIT: bit(0, 'Masked') }),
  },
)

/** Locations of the MSI-X Table and the Pending Bit Array, in bytes from the start of their BARs. */
export interface MsixLayout {
  readonly vectors: number
  readonly table: { readonly bar: number; readonly offset: number }
  readonly pending: { readonly bar: number; readonly offset: number }
}

/** Decodes an MSI-X capability at byteOffset of configuration space. @throws RangeError if `config` is too short. */
export function msixLayout(config: DataView, byteOffset: number): MsixLayout {
  const { MXC, MTAB, MPBA } = MsixCapability.view(config, byteOffset)
  const { TBIR, TO } = MsixCapability.MTAB
  const { PBIR, PBAO } = MsixCapability.MPBA
  return {
    vectors: MsixCapability.MXC.TS.of(MXC) + 1,
    table: { bar: TBIR.of(MTAB), offset: TO.of(MTAB) * 8 },
    pending: { bar: PBIR.of(MPBA), offset: PBAO.of(MPBA) * 8 },
  }
}

// Not described by the NVMe specifications: offsets and rows are those of Linux's header. Each extended capability
// begins with `PciExtendedCapability`, which is omitted here.

const acsRows = {
  SV: bit(0, 'Source Validation'),
  TB: bit(1, 'Translation Blocking'),
  RR: bit(2, 'P2P Request Redirect: to the root complex'),
  CR: bit(3, 'P2P Completion Redirect'),
  UF: bit(4, 'Upstream Forwarding'),
  EC: bit(5, 'P2P Egress Control'),
  DT: bit(6, 'Direct Translated P2P'),
}

/** The Access Control Services extended capability: whether a port lets its functions reach each other (PCI_ACS_*). */
export const AccessControlServices = struct(
  'Access Control Services capability',
  { bytes: 8, doc: 'PCI Express Access Control Services', spec: 'Linux 6.1 linux/pci_regs.h PCI_ACS' },
  { ACSCAP: u16(4, 'ACS Capability', acsRows), ACSCTL: u16(6, 'ACS Control', acsRows) },
)

/**
 * The Address Translation Services extended capability: lets a function request translations from the IOMMU
 * (PCI_ATS_*).
 */
export const AddressTranslationServices = struct(
  'Address Translation Services capability',
  { bytes: 8, doc: 'PCI Express Address Translation Services', spec: 'Linux 6.1 linux/pci_regs.h PCI_ATS' },
  { ATSCTL: u16(6, 'ATS Control', { ENABLE: bit(15, 'ATS Enable') }) },
)

/** One BAR of the Resizable BAR extended capability; the entries follow its header (PCI_REBAR_*). */
export const ResizableBarEntry = struct(
  'Resizable BAR entry',
  { bytes: 8, doc: 'One BAR of the Resizable BAR capability', spec: 'Linux 6.1 linux/pci_regs.h PCI_REBAR' },
  {
    REBARCAP: u32(0, 'Resizable BAR Capability', { SIZES: bits(31, 4, 'Sizes: bit n for 2 ^ (20 + n) bytes') }),
    REBARCTL: u32(4, 'Resizable BAR Control', {
      BAR_IDX: bits(2, 0, 'BAR Index'),
      NBAR: bits(7, 5, 'Number of Resizable BARs, in the first entry'),
      BAR_SIZE: bits(12, 8, 'BAR Size: 2 ^ (20 + n) bytes'),
    }),
  },
)

/**
 * The Downstream Port Containment extended capability, as far as needed to tell whether the link is down
 * (PCI_EXP_DPC_*).
 */
export const DownstreamPortContainment = struct(
  'Downstream Port Containment capability',
  { bytes: 12, doc: 'PCI Express Downstream Port Containment', spec: 'Linux 6.1 linux/pci_regs.h PCI_EXP_DPC' },
  {
    DPCCTL: u16(6, 'DPC Control', {
      EN_FATAL: bit(0, 'Trigger on ERR_FATAL'),
      EN_NONFATAL: bit(1, 'Trigger on ERR_NONFATAL'),
    }),
    DPCSTS: u16(8, 'DPC Status', { TRIGGER: bit(0, 'Trigger Status: the link is held down') }),
  },
)
