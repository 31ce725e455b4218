import { namespaceRows } from '../admin/identify-independent.js'
import {
  bit,
  bits,
  bytes,
  count16,
  count32,
  count8,
  n64,
  struct,
  u128,
  u16,
  u32,
  u32Array,
  u8,
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
    NAWUN: count16(34, 'Namespace Atomic Write Unit Normal'),
    NAWUPF: count16(36, 'Namespace Atomic Write Unit Power Fail'),
    NACWU: count16(38, 'Namespace Atomic Compare & Write Unit'),
    NABSN: count16(40, 'Namespace Atomic Boundary Size Normal'),
    NABO: u16(42, 'Namespace Atomic Boundary Offset'),
    NABSPF: count16(44, 'Namespace Atomic Boundary Size Power Fail'),
    NOIOB: u16(46, 'Namespace Optimal I/O Boundary in logical blocks'),
    NVMCAP: u128(48, 'NVM Capacity in bytes'),
    NPWG: count16(64, 'Namespace Preferred Write Granularity'),
    NPWA: count16(66, 'Namespace Preferred Write Alignment'),
    NPDG: count16(68, 'Namespace Preferred Deallocate Granularity'),
    NPDA: count16(70, 'Namespace Preferred Deallocate Alignment'),
    NOWS: count16(72, 'Namespace Optimal Write Size'),
    MSSRL: u16(74, 'Maximum Single Source Range Length'),
    MCL: u32(76, 'Maximum Copy Length'),
    MSRC: count8(80, 'Maximum Source Range Count'),
    KPIOS: u8(81, 'Key Per I/O Status', namespaceRows.KPIOS),
    NULBAF: u8(82, 'Number of Unique Attribute LBA Formats'),
    KPIODAAG: count32(84, 'Key Per I/O Data Access Alignment and Granularity'),
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
