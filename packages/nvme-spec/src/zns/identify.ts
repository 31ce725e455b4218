import { IDENTIFY_BYTES } from '../admin/identify.js'
import { bit, bytes, count32, n64, struct, structs, u16, u32, u8 } from '../layout/index.js'

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
