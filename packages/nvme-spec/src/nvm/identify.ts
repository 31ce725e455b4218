import { IDENTIFY_BYTES, namespaceRows } from '../admin/identify.js'
import {
  bit,
  bits,
  bytes,
  count16,
  count32,
  count8,
  inHex,
  n64,
  someOf,
  struct,
  structs,
  u128,
  u16,
  u32,
  u32Array,
  u64,
  u8,
  merge,
} from '../layout/index.js'

/** Returned by CNS 00h for a namespace of the NVM Command Set. All zero for an inactive namespace. */
export const IdentifyNamespace = struct(
  'Identify Namespace',
  { bytes: 4096, doc: 'Identify Namespace data structure (CNS 00h)', spec: 'NVM 1.2 §4.1.5.1' },
  {
    NSZE: n64(0, 'Namespace Size in logical blocks'),
    NCAP: n64(8, 'Namespace Capacity in logical blocks'),
    NUSE: n64(16, 'Namespace Utilization in logical blocks'),
    NSFEAT: u8(24, 'Namespace Features', {
      THINP: bit(0, 'Thin Provisioning'),
      NSABP: bit(1, 'Namespace Supported Atomic Boundary & Power'),
      DAE: bit(2, 'Deallocated Error'),
      UIDREUSE: bit(3, 'UID Reuse'),
      OPTPERF: bits(5, 4, 'Optional Write Performance'),
      MAM: bit(6, 'Multiple Atomicity Mode'),
      OPTRPERF: bit(7, 'Optional Read Performance'),
    }),
    NLBAF: count8(25, 'Number of LBA Formats'),
    FLBAS: u8(26, 'Formatted LBA Size', {
      FIDXL: bits(3, 0, 'Format Index Lower'),
      MTELBA: bit(4, 'Metadata Transferred as Extended LBA'),
      FIDXU: bits(6, 5, 'Format Index Upper'),
    }),
    MC: u8(27, 'Metadata Capabilities', {
      MTELBAS: bit(0, 'Metadata Transferred as Extended LBA Support'),
      MTSBS: bit(1, 'Metadata Transferred as Separate Buffer Support'),
    }),
    DPC: u8(28, 'End-to-end Data Protection Capabilities', {
      PIT1S: bit(0, 'Protection Information Type 1 Supported'),
      PIT2S: bit(1, 'Protection Information Type 2 Supported'),
      PIT3S: bit(2, 'Protection Information Type 3 Supported'),
      PIIFB: bit(3, 'Protection Information In First Bytes'),
      PIILB: bit(4, 'Protection Information In Last Bytes'),
    }),
    DPS: u8(29, 'End-to-end Data Protection Type Settings', {
      PIT: bits(2, 0, 'Protection Information Type', { NONE: 0, TYPE_1: 1, TYPE_2: 2, TYPE_3: 3 }),
      PIP: bit(3, 'Protection Information Position'),
    }),
    NMIC: u8(30, 'Namespace Multi-path I/O and Namespace Sharing Capabilities', namespaceRows.NMIC),
    RESCAP: u8(31, 'Reservation Capabilities', namespaceRows.RESCAP),
    FPI: u8(32, 'Format Progress Indicator', namespaceRows.FPI),
    DLFEAT: u8(33, 'Deallocate Logical Block Features', {
      DRB: bits(2, 0, 'Deallocation Read Behavior', { NOT_REPORTED: 0, ZEROES: 1, ONES: 2 }),
      WZDS: bit(3, 'Write Zeroes Deallocation Support'),
      GDS: bit(4, 'Guard Deallocation Status'),
    }),
    NAWUN: count16(34, 'Namespace Atomic Write Unit Normal in logical blocks'),
    NAWUPF: count16(36, 'Namespace Atomic Write Unit Power Fail in logical blocks'),
    NACWU: count16(38, 'Namespace Atomic Compare & Write Unit in logical blocks'),
    NABSN: count16(40, 'Namespace Atomic Boundary Size Normal in logical blocks; 0 means no boundary'),
    NABO: u16(42, 'Namespace Atomic Boundary Offset'),
    NABSPF: count16(44, 'Namespace Atomic Boundary Size Power Fail in logical blocks; 0 means no boundary'),
    NOIOB: u16(46, 'Namespace Optimal I/O Boundary in logical blocks'),
    NVMCAP: u128(48, 'NVM Capacity in bytes'),
    NPWG: count16(64, 'Namespace Preferred Write Granularity in logical blocks'),
    NPWA: count16(66, 'Namespace Preferred Write Alignment in logical blocks'),
    NPDG: count16(68, 'Namespace Preferred Deallocate Granularity in logical blocks'),
    NPDA: count16(70, 'Namespace Preferred Deallocate Alignment in logical blocks'),
    NOWS: count16(72, 'Namespace Optimal Write Size in logical blocks'),
    MSSRL: u16(74, 'Maximum Single Source Range Length in logical blocks'),
    MCL: u32(76, 'Maximum Copy Length in logical blocks'),
    MSRC: count8(80, 'Maximum Source Range Count'),
    KPIOS: u8(81, 'Key Per I/O Status', namespaceRows.KPIOS),
    NULBAF: u8(82, 'Number of Unique Attribute LBA Formats'),
    KPIODAAG: count32(84, 'Key Per I/O Data Access Alignment and Granularity in logical blocks'),
    ANAGRPID: u32(92, 'ANA Group Identifier'),
    NSATTR: u8(99, 'Namespace Attributes', namespaceRows.NSATTR),
    NVMSETID: u16(100, 'NVM Set Identifier'),
    ENDGID: u16(102, 'Endurance Group Identifier'),
    NGUID: bytes(104, 16, 'Namespace Globally Unique Identifier'),
    EUI64: bytes(120, 8, 'IEEE Extended Unique Identifier'),
    LBAF: u32Array(128, 64, 'LBA Formats 0 to 63', {
      MS: bits(15, 0, 'Metadata Size in bytes'),
      LBADS: bits(23, 16, 'LBA Data Size: 2 ^ n bytes'),
      RP: bits(25, 24, 'Relative Performance', { BEST: 0, BETTER: 1, GOOD: 2, DEGRADED: 3 }),
    }),
    VS: bytes(384, 3712, 'Vendor Specific'),
  },
)

/**
 * Returns the index of the LBA format in use, from a raw FLBAS: its upper bits count only if there are more than 16
 * formats. `formats` is a count, one more than the 0's based NLBAF.
 */
export function lbaFormatIndex(flbas: number, formats: number): number {
  const { FIDXL, FIDXU } = IdentifyNamespace.FLBAS
  return formats > 16 ? FIDXU.of(flbas) * 16 + FIDXL.of(flbas) : FIDXL.of(flbas)
}

const guard = { GUARD_16B: 0, GUARD_32B: 1, GUARD_64B: 2 } as const

/** Returned by CNS 05h, 0Ah and 1Bh for the NVM Command Set (NVM 1.2 §4.1.5.3, Figures 118 and 119). */
export const IdentifyNvmNamespace = struct(
  'NVM Command Set Identify Namespace',
  { bytes: IDENTIFY_BYTES, doc: 'NVM namespaces (CNS 05h)', spec: 'NVM 1.2 §4.1.5.3' },
  {
    LBSTM: inHex(u64(0, 'Logical Block Storage Tag Mask')),
    PIC: u8(8, 'Protection Information Capabilities', {
      PISTS16B: bit(0, '16b Guard Protection Information Storage Tag Support'),
      PISTM16B: bit(1, '16b Guard Protection Information Storage Tag Mask'),
      STCRS: bit(2, 'Storage Tag Check Read Support'),
      QPIFS: bit(3, 'Qualified Protection Information Format Support'),
    }),
    PIFA: u8(9, 'Protection Information Format Attribute', {
      STMLA: bits(2, 0, 'Storage Tag Masking Level Attribute', { BIT: 0, BYTE: 1, NOT_SUPPORTED: 2 }),
    }),
    ELBAF: u32Array(12, 64, 'Extended LBA Formats 0 to 63', {
      STS: bits(6, 0, 'Storage Tag Size in bits'),
      PIF: bits(8, 7, 'Protection Information Format', merge(guard, { QTYPE: 3 })),
      QPIF: bits(12, 9, 'Qualified Protection Information Format', guard),
    }),
    NPDGL: u32(268, 'Namespace Preferred Deallocate Granularity Large in logical blocks'),
    NPRG: count32(272, 'Namespace Preferred Read Granularity in logical blocks'),
    NPRA: count32(276, 'Namespace Preferred Read Alignment in logical blocks'),
    NORS: count32(280, 'Namespace Optimal Read Size in logical blocks'),
    NPDAL: u32(284, 'Namespace Preferred Deallocate Alignment Large in logical blocks'),
    LBAPSS: u32(288, 'LBA Format Placement Shard Size in logical blocks'),
    TLBAAG: u32(292, 'Tracked LBA Allocation Granularity in logical blocks'),
  },
)

/**
 * Returned by CNS 06h for the NVM Command Set (NVM 1.2 §4.1.5.4, Figure 120). Sizes are 2 ^ n pages of CAP.MPSMIN;
 * whether 0 means no limit or no such command depends on ONCS.
 */
export const IdentifyNvmController = struct(
  'NVM Command Set Identify Controller',
  { bytes: IDENTIFY_BYTES, doc: 'Limits of NVM commands (CNS 06h)', spec: 'NVM 1.2 §4.1.5.4' },
  {
    VSL: u8(0, 'Verify Size Limit: 2 ^ n pages of CAP.MPSMIN'),
    WZSL: u8(1, 'Write Zeroes Size Limit: 2 ^ n pages of CAP.MPSMIN'),
    WUSL: u8(2, 'Write Uncorrectable Size Limit: 2 ^ n pages of CAP.MPSMIN'),
    DMRL: u8(3, 'Dataset Management Ranges Limit'),
    DMRSL: u32(4, 'Dataset Management Range Size Limit in logical blocks'),
    DMSL: u64(8, 'Dataset Management Size Limit in logical blocks'),
    KPIOCAP: u8(16, 'Key Per I/O Capabilities', {
      KPIOS: bit(0, 'Key Per I/O Supported'),
      KPIOSC: bit(1, 'Key Per I/O Scope'),
    }),
    WZDSL: u8(17, 'Write Zeroes With Deallocate Size Limit: 2 ^ n pages of CAP.MPSMIN'),
    AOCS: u16(18, 'Admin Optional Command Support', { RALBAS: bit(0, 'Reporting Allocated LBA Supported') }),
    VER: u32(20, 'Version of the NVM Command Set', {
      TER: bits(7, 0, 'Tertiary Version'),
      MNR: bits(15, 8, 'Minor Version'),
      MJR: bits(31, 16, 'Major Version'),
    }),
    LBAMQF: someOf(u8(24, 'LBA Migration Queue Format'), { TYPE_0: 0 }),
  },
)

/** An entry of the Namespace Granularity List; 0 means not reported (NVM 1.2 §4.1.5.8, Figure 124). */
export const NamespaceGranularity = struct(
  'Namespace Granularity Descriptor',
  { bytes: 16, doc: 'Preferred granularity of a new namespace', spec: 'NVM 1.2 §4.1.5.8' },
  {
    NSG: u64(0, 'Namespace Size Granularity in bytes'),
    NCG: u64(8, 'Namespace Capacity Granularity in bytes'),
  },
)

/** Returned by CNS 16h (NVM 1.2 §4.1.5.8, Figure 123). */
export const NamespaceGranularityList = struct(
  'Namespace Granularity List',
  { bytes: IDENTIFY_BYTES, doc: 'Up to 64 granularities', spec: 'NVM 1.2 §4.1.5.8' },
  {
    NGA: u32(0, 'Namespace Granularity Attributes', { GDM: bit(0, 'Granularity Descriptor Mapping') }),
    ND: count8(4, 'Number of Descriptors'),
    NGD: structs(32, 64, NamespaceGranularity, 'One for each LBA format, or one for all'),
  },
)
