import { IDENTIFY_BYTES } from './admin/identify.js'
import { checkInteger } from './layout/facts.js'
import {
  bit,
  bits,
  bytes,
  cdw,
  cdw64,
  cdwBit,
  cdwCount,
  cdwOpen,
  codes,
  count32,
  dwordBits,
  n64,
  openBits,
  struct,
  structs,
  u16,
  u32,
  u8,
  word32,
  znsCommand,
} from './layout/index.js'

/** Opcodes that the Zoned Namespace Command Set adds to those of `NVM_OPCODE` (ZNS 1.1 §3.2, Figure 12). */
export const ZNS_OPCODE = codes(
  'ZNS_OPCODE',
  { doc: 'Opcodes of the Zoned Namespace Command Set', spec: 'ZNS 1.1 §3.2' },
  { ZONE_MANAGEMENT_SEND: 0x79, ZONE_MANAGEMENT_RECEIVE: 0x7a, ZONE_APPEND: 0x7d },
)

/** Writes logical blocks at the zone's write pointer (ZNS 1.1 §3.4.1, Figures 22 to 29). */
export const ZoneAppend = znsCommand(
  'Zone Append',
  { opcode: 0x7d, doc: 'Writes at the write pointer of a zone', spec: 'ZNS 1.1 §3.4.1' },
  {
    ZSLBA: cdw64(10, 'Zone Start Logical Block Address'),
    NLB: cdwCount(12, 15, 0, 'Number of Logical Blocks'),
    DTYPE: cdw(12, 23, 20, 'Directive Type'),
    STC: cdwBit(12, 24, 'Storage Tag Check'),
    PIREMAP: cdwBit(12, 25, 'Protection Information Remap'),
    PRINFO: cdw(12, 29, 26, 'Protection Information'),
    FUA: cdwBit(12, 30, 'Force Unit Access'),
    LR: cdwBit(12, 31, 'Limited Retry'),
    DSPEC: cdw(13, 31, 16, 'Directive Specific'),
    LBTU2: cdw(2, 15, 0, 'Logical Block Tags Upper, bits 47:32'),
    LBTU3: cdw(3, 31, 0, 'Logical Block Tags Upper, bits 31:00'),
    LBTL: cdw(14, 31, 0, 'Logical Block Tags Lower'),
    LBAT: cdw(15, 15, 0, 'Logical Block Application Tag'),
    LBATM: cdw(15, 31, 16, 'Logical Block Application Tag Mask'),
  },
)

/** Dwords 0 and 1 of the completion of Zone Append: the LBA where the blocks were written (ZNS 1.1 §3.4.1.2). */
export const ZoneAppendCompletion = struct(
  'Zone Append Completion',
  { bytes: 8, doc: 'Dwords 0 and 1 of the completion', spec: 'ZNS 1.1 §3.4.1.2' },
  { ALBA: n64(0, 'Assigned LBA') },
)

/**
 * Opens, closes, finishes, resets or takes zones offline (ZNS 1.1 §3.4.3, Figures 38 and 39). Select All has no symbol
 * in the figure; SELECT_ALL, ZSASO and ZRWA_FLUSH, which are not in revision 1.1, are names of libnvme 1.3.
 */
export const ZoneManagementSend = znsCommand(
  'Zone Management Send',
  { opcode: 0x79, doc: 'Changes the state of zones', spec: 'ZNS 1.1 §3.4.3' },
  {
    SLBA: cdw64(10, 'Starting LBA of the zone'),
    ZSA: cdwOpen(13, 7, 0, 'Zone Send Action', {
      CLOSE: 0x01,
      FINISH: 0x02,
      OPEN: 0x03,
      RESET: 0x04,
      OFFLINE: 0x05,
      SET_ZONE_DESCRIPTOR_EXTENSION: 0x10,
      ZRWA_FLUSH: 0x11,
    }),
    SELECT_ALL: cdwBit(13, 8, 'Select All; SLBA is ignored'),
    ZSASO: cdwBit(13, 9, 'Zone Send Action Specific Option'),
  },
)

/** Dword 0 of the completion of Zone Management Send; the initials are ours (ZNS 1.1 §3.4.3.2, Figure 41). */
export const ZoneManagementSendDw0 = word32(
  'ZoneManagementSend.DW0',
  { doc: 'Completion of Zone Management Send', spec: 'ZNS 1.1 §3.4.3.2' },
  { ZCC: bit(0, 'Zone Capacity Changed') },
)

/**
 * Reports zones (ZNS 1.1 §3.4.2, Figures 31 to 34). NUMD, ZRASF and PR, which have no symbols in the figures, are named
 * as in Linux 6.1.
 */
export const ZoneManagementReceive = znsCommand(
  'Zone Management Receive',
  { opcode: 0x7a, doc: 'Reports zones', spec: 'ZNS 1.1 §3.4.2' },
  {
    SLBA: cdw64(10, 'An LBA in the first zone'),
    NUMD: cdwCount(12, 31, 0, 'Number of Dwords'),
    ZRA: cdwOpen(13, 7, 0, 'Zone Receive Action', { REPORT_ZONES: 0, EXTENDED_REPORT_ZONES: 1 }),
    ZRASF: cdwOpen(13, 15, 8, 'Reporting Options: zone states to report', {
      ALL: 0,
      EMPTY: 1,
      IMPLICITLY_OPENED: 2,
      EXPLICITLY_OPENED: 3,
      CLOSED: 4,
      FULL: 5,
      READ_ONLY: 6,
      OFFLINE: 7,
      WITH_ATTRIBUTES: 9,
    }),
    PR: cdwBit(13, 16, 'Partial Report'),
  },
)

/** Types of a zone (ZNS 1.1 §3.4.2.2.3, Figure 37). */
export const ZONE_TYPE = codes(
  'ZONE_TYPE',
  { doc: 'Types of a zone', spec: 'ZNS 1.1 §3.4.2.2.3' },
  { SEQUENTIAL_WRITE_REQUIRED: 0x2 },
)

/** States of a zone (ZNS 1.1 §3.4.2.2.3, Figure 37). */
export const ZONE_STATE = codes(
  'ZONE_STATE',
  { doc: 'States of a zone', spec: 'ZNS 1.1 §3.4.2.2.3' },
  {
    EMPTY: 0x1,
    IMPLICITLY_OPENED: 0x2,
    EXPLICITLY_OPENED: 0x3,
    CLOSED: 0x4,
    READ_ONLY: 0xd,
    FULL: 0xe,
    OFFLINE: 0xf,
  },
)

/**
 * A zone in a report (ZNS 1.1 §3.4.2.2.3, Figure 37). ZRWAV, which revision 1.1 does not have, is a name of libnvme
 * 1.3.
 */
export const ZoneDescriptor = struct(
  'Zone Descriptor',
  { bytes: 64, doc: 'A zone in a report', spec: 'ZNS 1.1 §3.4.2.2.3' },
  {
    ZT: dwordBits(0, openBits(3, 0, 'Zone Type', ZONE_TYPE.values)),
    ZS: dwordBits(0, openBits(15, 12, 'Zone State', ZONE_STATE.values)),
    ZA: u8(2, 'Zone Attributes', {
      ZFC: bit(0, 'Zone Finished by Controller'),
      FZR: bit(1, 'Finish Zone Recommended'),
      RZR: bit(2, 'Reset Zone Recommended'),
      ZRWAV: bit(3, 'Zone Random Write Area Valid'),
      ZDEV: bit(7, 'Zone Descriptor Extension Valid'),
    }),
    ZAI: u8(3, 'Zone Attributes Information', {
      FZRTL: bits(1, 0, 'Finish Zone Recommended Time Limit: FRL, FRL1 to FRL3'),
      RZRTL: bits(3, 2, 'Reset Zone Recommended Time Limit: RRL, RRL1 to RRL3'),
    }),
    ZCAP: n64(8, 'Zone Capacity in logical blocks'),
    ZSLBA: n64(16, 'Zone Start Logical Block Address'),
    WP: n64(24, 'Write Pointer, an LBA'),
  },
)

/**
 * Header of Report Zones and of Extended Report Zones (ZNS 1.1 §3.4.2.2, Figures 35 and 36); named as in libnvme 1.3.
 * Zone Descriptors follow at the offsets of `zoneDescriptorOffset`.
 */
export const ReportZones = struct(
  'Report Zones',
  { bytes: 64, doc: 'Header of a report of zones', spec: 'ZNS 1.1 §3.4.2.2' },
  { NR_ZONES: n64(0, 'Number of Zones') },
)

/**
 * Returns the byte offset of the index-th Zone Descriptor in a report (ZNS 1.1 §3.4.2.2, Figures 35 and 36). In an
 * Extended Report Zones structure each is followed by a Zone Descriptor Extension of `extensionBytes` bytes.
 * @throws RangeError for a value below 0 or with a fraction, TypeError for one that is not a number.
 */
export function zoneDescriptorOffset(index: number, extensionBytes = 0): number {
  checkInteger('index', index, 0)
  checkInteger('extensionBytes', extensionBytes, 0)
  return ReportZones.bytes + index * (ZoneDescriptor.bytes + extensionBytes)
}

/** Zone properties of an LBA format. */
export const ZonedLbaFormat = struct(
  'LBA Format Extension',
  { bytes: 16, doc: 'Zone properties of an LBA format', spec: 'libnvme 1.3 nvme_zns_lbafe' },
  {
    ZSZE: n64(0, 'Zone Size in logical blocks'),
    ZDES: u8(8, 'Zone Descriptor Extension Size in units of 64 bytes'),
  },
)

/**
 * Returned by CNS 05h and 1Bh for the Zoned Namespace Command Set. The bits of ZOC, OZCS and ZRWACAP are those that
 * nvme-cli 2.3 explains.
 */
export const IdentifyZonedNamespace = struct(
  'Zoned Namespace Command Set Identify Namespace',
  { bytes: IDENTIFY_BYTES, doc: 'Zone properties of a namespace (CNS 05h)', spec: 'libnvme 1.3 nvme_zns_id_ns' },
  {
    ZOC: u16(0, 'Zone Operation Characteristics', {
      VZC: bit(0, 'Variable Zone Capacity'),
      ZAE: bit(1, 'Zone Active Excursions'),
    }),
    OZCS: u16(2, 'Optional Zoned Command Support', {
      RAZB: bit(0, 'Read Across Zone Boundaries'),
      ZRWASUP: bit(1, 'Zone Random Write Area Supported'),
    }),
    MAR: count32(4, 'Maximum Active Resources; FFFFFFFFh means no limit'),
    MOR: count32(8, 'Maximum Open Resources; FFFFFFFFh means no limit'),
    RRL: u32(12, 'Reset Recommended Limit in seconds'),
    FRL: u32(16, 'Finish Recommended Limit in seconds'),
    RRL1: u32(20, 'Reset Recommended Limit 1 in seconds'),
    RRL2: u32(24, 'Reset Recommended Limit 2 in seconds'),
    RRL3: u32(28, 'Reset Recommended Limit 3 in seconds'),
    FRL1: u32(32, 'Finish Recommended Limit 1 in seconds'),
    FRL2: u32(36, 'Finish Recommended Limit 2 in seconds'),
    FRL3: u32(40, 'Finish Recommended Limit 3 in seconds'),
    NUMZRWA: u32(44, 'Number of ZRWA Resources'),
    ZRWAFG: u16(48, 'ZRWA Flush Granularity in logical blocks'),
    ZRWASZ: u16(50, 'ZRWA Size in logical blocks'),
    ZRWACAP: u8(52, 'ZRWA Capability', { EXPFLUSHSUP: bit(0, 'Explicit ZRWA Flush Operations Supported') }),
    LBAFE: structs(2816, 64, ZonedLbaFormat, 'LBA Format Extensions 0 to 63'),
    VS: bytes(3840, 256, 'Vendor Specific'),
  },
)

/** Returned by CNS 06h for the Zoned Namespace Command Set. */
export const IdentifyZonedController = struct(
  'Zoned Namespace Command Set Identify Controller',
  { bytes: IDENTIFY_BYTES, doc: 'Limits of zone commands (CNS 06h)', spec: 'libnvme 1.3 nvme_zns_id_ctrl' },
  { ZASL: u8(0, 'Zone Append Size Limit: 2 ^ n pages of CAP.MPSMIN; 0 means MDTS') },
)
