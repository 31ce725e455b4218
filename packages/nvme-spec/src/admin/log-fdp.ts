import {
  bit,
  bits,
  bytes,
  count16,
  inHex,
  oneOf,
  someOf,
  struct,
  structs,
  u128,
  u16,
  u32,
  u64,
  u8,
} from '../layout/index.js'
import { TimestampData } from './feature/timestamp.js'

/** Header of FDP Configurations (LID 20h; Base 2.1 §5.1.12.1.28, Figure 279). NUMFDPC descriptors follow. */
export const FdpConfigurationsHeader = struct(
  'FDP Configurations header',
  { bytes: 16, doc: 'The header (LID 20h)', spec: 'Base 2.1 §5.1.12.1.28' },
  {
    NUMFDPC: count16(0, 'Number of FDP Configurations'),
    VER: u8(2, 'Version'),
    SZE: u32(4, 'Size of the log page in bytes'),
  },
)

/**
 * Header of an FDP Configuration (Base 2.3 §5.2.12.1.29, Figure 287; bytes 2:0 in Base 2.1 Figure 280). NRUH Reclaim
 * Unit Handle Descriptors follow, then VSS vendor specific bytes, then padding up to DSZE bytes.
 */
export const FdpConfigurationDescriptor = struct(
  'FDP Configuration Descriptor',
  { bytes: 64, doc: 'Header of an FDP Configuration', spec: 'Base 2.3 §5.2.12.1.29' },
  {
    DSZE: u16(0, 'Descriptor Size in bytes'),
    FDPA: u8(2, 'FDP Attributes', {
      RGIF: bits(3, 0, 'Reclaim Group Identifier Format: width in bits'),
      FDPVWC: bit(4, 'FDP Volatile Write Cache'),
      FDPCV: bit(7, 'FDP Configuration Valid'),
    }),
    VSS: u8(3, 'Vendor Specific Size in bytes'),
    NRG: u32(4, 'Number of Reclaim Groups'),
    NRUH: u16(8, 'Number of Reclaim Unit Handles'),
    MAXPIDS: count16(10, 'Max Placement Identifiers'),
    NNS: u32(12, 'Number of Namespaces Supported'),
    RUNS: u64(16, 'Reclaim Unit Nominal Size in bytes'),
    ERUTL: u32(24, 'Estimated Reclaim Unit Time Limit in seconds'),
  },
)

/** A Reclaim Unit Handle of an FDP Configuration (Base 2.3 §5.2.12.1.29, Figure 288). */
export const ReclaimUnitHandleDescriptor = struct(
  'Reclaim Unit Handle Descriptor',
  { bytes: 4, doc: 'A Reclaim Unit Handle of an FDP Configuration', spec: 'Base 2.3 §5.2.12.1.29' },
  { RUHT: someOf(u8(0, 'Reclaim Unit Handle Type'), { INITIALLY_ISOLATED: 1, PERSISTENTLY_ISOLATED: 2 }) },
)

/** Header of Reclaim Unit Handle Usage (LID 21h; Base 2.1 §5.1.12.1.29, Figure 284). NRUH descriptors follow. */
export const ReclaimUnitHandleUsageHeader = struct(
  'Reclaim Unit Handle Usage header',
  { bytes: 8, doc: 'The header (LID 21h)', spec: 'Base 2.1 §5.1.12.1.29' },
  { NRUH: u16(0, 'Number of Reclaim Unit Handles') },
)

/** Use of a Reclaim Unit Handle (Base 2.1 §5.1.12.1.29, Figure 285). */
export const ReclaimUnitHandleUsageDescriptor = struct(
  'Reclaim Unit Handle Usage Descriptor',
  { bytes: 8, doc: 'Use of a Reclaim Unit Handle', spec: 'Base 2.1 §5.1.12.1.29' },
  { RUHA: oneOf(u8(0, 'Reclaim Unit Handle Attributes'), { NOT_USED: 0, HOST_SPECIFIED: 1, CONTROLLER_SPECIFIED: 2 }) },
)

/** FDP Statistics (LID 22h; Base 2.1 §5.1.12.1.30, Figure 286), in bytes. */
export const FdpStatisticsLog = struct(
  'FDP Statistics',
  { bytes: 64, doc: 'The log page (LID 22h)', spec: 'Base 2.1 §5.1.12.1.30' },
  {
    HBMW: u128(0, 'Host Bytes with Metadata Written'),
    MBMW: u128(16, 'Media Bytes with Metadata Written'),
    MBE: u128(32, 'Media Bytes Erased'),
  },
)

/** Header of FDP Events (LID 23h; Base 2.1 §5.1.12.1.31, Figure 288). NUMFDPE events follow, the oldest first. */
export const FdpEventsHeader = struct(
  'FDP Events header',
  { bytes: 64, doc: 'The header (LID 23h)', spec: 'Base 2.1 §5.1.12.1.31' },
  { NUMFDPE: u32(0, 'Number of FDP Events') },
)

/** An event of FDP Events (Base 2.1 §5.1.12.1.31, Figure 289). */
export const FdpEvent = struct(
  'FDP Event',
  { bytes: 64, doc: 'An FDP event', spec: 'Base 2.1 §5.1.12.1.31' },
  {
    ETYP: someOf(u8(0, 'Event Type'), {
      RECLAIM_UNIT_NOT_FULLY_WRITTEN: 0x00,
      RECLAIM_UNIT_TIME_LIMIT_EXCEEDED: 0x01,
      RESET_MODIFIED_RECLAIM_UNIT_HANDLES: 0x02,
      INVALID_PLACEMENT_IDENTIFIER: 0x03,
      MEDIA_REALLOCATED: 0x80,
      IMPLICITLY_MODIFIED_RECLAIM_UNIT_HANDLE: 0x81,
    }),
    FDPEF: u8(1, 'FDP Event Flags', {
      PIV: bit(0, 'Placement Identifier Valid'),
      NSIDV: bit(1, 'NSID Valid'),
      LV: bit(2, 'Location Valid'),
    }),
    PID: inHex(u16(2, 'Placement Identifier')),
    ETMSP: structs(4, 1, TimestampData, 'Event Timestamp'),
    NSID: u32(12, 'Namespace Identifier'),
    ETSP: bytes(16, 16, 'Event Type Specific'),
    RGICD: u16(32, 'Reclaim Group Identifier'),
    RUHID: u16(34, 'Reclaim Unit Handle Identifier'),
    VS: bytes(40, 24, 'Vendor Specific'),
  },
)

/** ETSP of a Media Reallocated event of the NVM Command Set (NVM 1.2 §4.1.4.7, Figure 112). */
export const MediaReallocated = struct(
  'Media Reallocated',
  { bytes: 16, doc: 'Logical blocks that were moved', spec: 'NVM 1.2 §4.1.4.7' },
  {
    SEF: u8(0, 'Specific Event Flags', { LBAV: bit(0, 'LBA Valid') }),
    NLBAM: u16(2, 'Number of LBAs Moved; FFFFh means 65,535 or more'),
    LBA: u64(4, 'Logical Block Address'),
  },
)
