import { TimestampData } from './features.js'
import {
  bit,
  bits,
  bytes,
  count16,
  count32,
  inHex,
  n64,
  oneOf,
  someOf,
  struct,
  structs,
  u128,
  u16,
  u32,
  u64,
  u64Array,
  u8,
} from '../layout/index.js'

/** Endurance Group Information (LID 09h; Base 2.3 §5.2.12.1.10, Figure 222), of the group selected by LSI. */
export const EnduranceGroupLog = struct(
  'Endurance Group Information',
  { bytes: 512, doc: 'The log page (LID 09h)', spec: 'Base 2.3 §5.2.12.1.10' },
  {
    EGCW: u8(0, 'Endurance Group Critical Warning', {
      EGASB: bit(0, 'Endurance Group Available Spare Below threshold'),
      EGDR: bit(2, 'Endurance Group Degraded Reliability'),
      EGRO: bit(3, 'Endurance Group Read-Only'),
    }),
    EGFEAT: u8(1, 'Endurance Group Features', { EGRMEDIA: bit(0, 'Data on rotational media') }),
    AVSP: u8(3, 'Available Spare in percent'),
    AVSPT: u8(4, 'Available Spare Threshold in percent'),
    PUSED: u8(5, 'Percentage Used; 255 means more than 254'),
    DID: u16(6, 'Domain Identifier'),
    EE: u128(32, 'Endurance Estimate in 1,000,000,000 bytes'),
    DUR: u128(48, 'Data Units Read in 1,000,000,000 bytes'),
    DUW: u128(64, 'Data Units Written in 1,000,000,000 bytes'),
    MUW: u128(80, 'Media Units Written in 1,000,000,000 bytes'),
    HRC: u128(96, 'Host Read Commands'),
    HWC: u128(112, 'Host Write Commands'),
    MDIE: u128(128, 'Media and Data Integrity Errors'),
    NEILE: u128(144, 'Number of Error Information Log Entries'),
    TEGCAP: u128(160, 'Total Endurance Group Capacity in bytes'),
    UEGCAP: u128(176, 'Unallocated Endurance Group Capacity in bytes'),
  },
)

/**
 * Header of Endurance Group Event Aggregate (LID 0Fh; Base 2.1 §5.1.12.1.15, Figure 252). NUMENT 16-bit identifiers
 * follow: the Endurance Groups with a pending event, in increasing order.
 */
export const EnduranceGroupEventAggregate = struct(
  'Endurance Group Event Aggregate header',
  { bytes: 8, doc: 'The header (LID 0Fh)', spec: 'Base 2.1 §5.1.12.1.15' },
  { NUMENT: u64(0, 'Number of Entries') },
)

/**
 * Rotational Media Information (LID 16h; Base 2.3 §5.2.12.1.22, Figure 274), of the Endurance Group selected by LSI.
 */
export const RotationalMediaLog = struct(
  'Rotational Media Information',
  { bytes: 512, doc: 'The log page (LID 16h)', spec: 'Base 2.3 §5.2.12.1.22' },
  {
    ENDGID: u16(0, 'Endurance Group Identifier'),
    NUMA: u16(2, 'Number of Actuators'),
    NRS: u16(4, 'Nominal Rotational Speed per minute'),
    SPINC: u32(8, 'Spinup Count'),
    FSPINC: u32(12, 'Failed Spinup Count'),
    LDC: u32(16, 'Load Count'),
    FLDC: u32(20, 'Failed Load Count'),
  },
)

/**
 * Predictable Latency Per NVM Set (LID 0Ah; Base 2.3 §5.2.12.1.11, Figure 224), of the NVM Set selected by LSI. Read
 * values refer to 4 KiB, write values to the Optimal Write Size.
 */
export const PredictableLatencyLog = struct(
  'Predictable Latency Per NVM Set',
  { bytes: 512, doc: 'The log page (LID 0Ah)', spec: 'Base 2.3 §5.2.12.1.11' },
  {
    STSNVMS: u8(0, 'Status', {
      PLMW: bits(2, 0, 'Predictable Latency Mode Window', { NOT_USED: 0, DTWIN: 1, NDWIN: 2 }),
    }),
    ETYP: u16(2, 'Event Type', {
      DTRW: bit(0, 'DTWIN Reads Warning'),
      DTWW: bit(1, 'DTWIN Writes Warning'),
      DTTW: bit(2, 'DTWIN Time Warning'),
      MVEAT: bit(14, 'Maximum Value Exceeded Autonomous Transition'),
      DEAT: bit(15, 'Deterministic Excursion Autonomous Transition'),
    }),
    DTWRT: u64(32, 'DTWIN Reads Typical in units of 4 KiB'),
    DTWWT: u64(40, 'DTWIN Writes Typical in units of OWS'),
    DTWTM: u64(48, 'DTWIN Time Maximum in milliseconds'),
    NTWTMH: u64(56, 'NDWIN Time Minimum High in milliseconds'),
    NTWTML: u64(64, 'NDWIN Time Minimum Low in milliseconds'),
    DTWRE: u64(128, 'DTWIN Reads Estimate in units of 4 KiB'),
    DTWWE: u64(136, 'DTWIN Writes Estimate in units of OWS'),
    DTWTE: u64(144, 'DTWIN Time Estimate in milliseconds'),
  },
)

/**
 * Header of Predictable Latency Event Aggregate (LID 0Bh; Base 2.3 §5.2.12.1.12, Figure 225). NUMENT 16-bit identifiers
 * follow: the NVM Sets with a pending event, in increasing order.
 */
export const PredictableLatencyEventAggregate = struct(
  'Predictable Latency Event Aggregate header',
  { bytes: 8, doc: 'The header (LID 0Bh)', spec: 'Base 2.3 §5.2.12.1.12' },
  { NUMENT: u64(0, 'Number of Entries') },
)

/** Header of Media Unit Status (LID 10h; Base 2.1 §5.1.12.1.16, Figure 254). NMU descriptors follow. */
export const MediaUnitStatusHeader = struct(
  'Media Unit Status header',
  { bytes: 16, doc: 'The header (LID 10h)', spec: 'Base 2.1 §5.1.12.1.16' },
  {
    NMU: u16(0, 'Number of Media Unit Status Descriptors'),
    CCHANS: u16(2, 'Number of Channels'),
    SELC: u16(4, 'Selected Configuration; 0 for none'),
  },
)

/**
 * Header of a Media Unit Status Descriptor (Base 2.1 §5.1.12.1.16, Figure 255). The MUCS 16-bit Channel Identifiers are
 * at its end, CIO bytes after its beginning.
 */
export const MediaUnitStatusDescriptor = struct(
  'Media Unit Status Descriptor',
  { bytes: 14, doc: 'Header of a Media Unit Status Descriptor', spec: 'Base 2.1 §5.1.12.1.16' },
  {
    MUID: u16(0, 'Media Unit Identifier'),
    DID: u16(2, 'Domain Identifier'),
    ENDGID: u16(4, 'Endurance Group Identifier'),
    NVMSETID: u16(6, 'NVM Set Identifier'),
    CAF: u16(8, 'Capacity Adjustment Factor; 0 means not reported'),
    AVSP: u8(10, 'Available Spare in percent'),
    PUSED: u8(11, 'Percentage Used; 255 means more than 254'),
    MUCS: u8(12, 'Number of Channels'),
    CIO: u8(13, 'Channel Identifiers Offset in bytes'),
  },
)

/** Header of Supported Capacity Configuration List (LID 11h; Base 2.1 §5.1.12.1.17, Figure 256). */
export const CapacityConfigurationListHeader = struct(
  'Supported Capacity Configuration List header',
  { bytes: 16, doc: 'The header (LID 11h)', spec: 'Base 2.1 §5.1.12.1.17' },
  { SCCN: u8(0, 'Number of Supported Capacity Configurations') },
)

/** Header of a Capacity Configuration (Base 2.1 §5.1.12.1.17, Figure 257). EGCN Endurance Groups follow. */
export const CapacityConfigurationDescriptor = struct(
  'Capacity Configuration Descriptor',
  { bytes: 32, doc: 'Header of a Capacity Configuration', spec: 'Base 2.1 §5.1.12.1.17' },
  {
    CCID: u16(0, 'Capacity Configuration Identifier'),
    DID: u16(2, 'Domain Identifier'),
    EGCN: u16(4, 'Number of Endurance Group Configuration Descriptors'),
  },
)

/**
 * Header of an Endurance Group of a Capacity Configuration (Base 2.1 §5.1.12.1.17, Figure 258). EGSETS 16-bit NVM Set
 * Identifiers follow, then a 16-bit number of Channels, then the Channels.
 */
export const EnduranceGroupConfigurationDescriptor = struct(
  'Endurance Group Configuration Descriptor',
  { bytes: 82, doc: 'Endurance Group Configuration header', spec: 'Base 2.1 §5.1.12.1.17' },
  {
    ENDGID: u16(0, 'Endurance Group Identifier'),
    CADJF: u16(2, 'Capacity Adjustment Factor; 0 means not reported'),
    TEGCAP: u128(16, 'Total Endurance Group Capacity in bytes'),
    SEGCAP: u128(32, 'Spare Endurance Group Capacity in bytes'),
    EE: u128(48, 'Endurance Estimate in 1,000,000,000 bytes'),
    EGSETS: u16(80, 'Number of NVM Sets'),
  },
)

/** Header of a Channel of an Endurance Group (Base 2.1 §5.1.12.1.17, Figure 259). CHMUS Media Units follow. */
export const ChannelConfigurationDescriptor = struct(
  'Channel Configuration Descriptor',
  { bytes: 4, doc: 'Header of a Channel of an Endurance Group', spec: 'Base 2.1 §5.1.12.1.17' },
  { CHID: u16(0, 'Channel Identifier'), CHMUS: u16(2, 'Number of Channel Media Units') },
)

/** A Media Unit of a Channel (Base 2.1 §5.1.12.1.17, Figure 260). */
export const MediaUnitConfigurationDescriptor = struct(
  'Media Unit Configuration Descriptor',
  { bytes: 8, doc: 'A Media Unit of a Channel', spec: 'Base 2.1 §5.1.12.1.17' },
  { MUID: u16(0, 'Media Unit Identifier'), MUDL: u16(6, 'Media Unit Descriptor Length: bytes that follow') },
)

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

/** Header of LBA Status Information (LID 0Eh; NVM 1.2 §4.1.4.5, Figure 109). NLSLNE namespace elements follow. */
export const LbaStatusLogHeader = struct(
  'LBA Status Information header',
  { bytes: 16, doc: 'The header (LID 0Eh)', spec: 'NVM 1.2 §4.1.4.5' },
  {
    LSLPLEN: u32(0, 'LBA Status Log Page Length in bytes'),
    NLSLNE: u32(4, 'Number of LBA Status Log Namespace Elements'),
    ESTULB: u32(8, 'Estimate of Unrecoverable Logical Blocks'),
    LSGC: u16(14, 'LBA Status Generation Counter'),
  },
)

/**
 * Header of a namespace element (NVM 1.2 §4.1.4.5, Figure 110). NLRD range descriptors follow; FFFFFFFFh means none.
 */
export const LbaStatusNamespaceElement = struct(
  'LBA Status Log Namespace Element',
  { bytes: 16, doc: 'Number of ranges of a namespace', spec: 'NVM 1.2 §4.1.4.5' },
  {
    NEID: u32(0, 'Namespace Element Identifier: its NSID'),
    NLRD: u32(4, 'Number of LBA Range Descriptors'),
    RATYPE: oneOf(u8(8, 'Recommended Action Type, for Get LBA Status'), { SCAN: 0x10, TRACKED: 0x11 }),
  },
)

/** A range of logical blocks that may be unrecoverable (NVM 1.2 §4.1.4.5, Figure 111). */
export const LbaRangeDescriptor = struct(
  'LBA Range Descriptor',
  { bytes: 16, doc: 'Range of LBAs', spec: 'NVM 1.2 §4.1.4.5' },
  { RSLBA: n64(0, 'Range Starting LBA'), RNLB: count32(8, 'Range Number of Logical Blocks') },
)

/**
 * Reservation Notification (LID 80h; Base 2.1 §5.1.12.1.32, Figure 290): the oldest one, or all zero if there is none.
 */
export const ReservationNotificationLog = struct(
  'Reservation Notification',
  { bytes: 64, doc: 'The log page (LID 80h)', spec: 'Base 2.1 §5.1.12.1.32' },
  {
    LPC: u64(0, 'Log Page Count'),
    RNLPT: oneOf(u8(8, 'Reservation Notification Log Page Type'), {
      EMPTY: 0,
      REGISTRATION_PREEMPTED: 1,
      RESERVATION_RELEASED: 2,
      RESERVATION_PREEMPTED: 3,
    }),
    NALP: u8(9, 'Number of Available Log Pages besides this one'),
    NSID: u32(12, 'Namespace ID'),
  },
)

/**
 * Changed Zone List (LID BFh): zones, by their first LBA, whose descriptors the controller has changed on its own
 * (libnvme 1.3 `nvme_zns_changed_zone_log`).
 */
export const ChangedZoneList = struct(
  'Changed Zone List',
  { bytes: 4096, doc: 'Zones changed by the controller (LID BFh)', spec: 'libnvme 1.3 nvme_zns_changed_zone_log' },
  { NRZID: u16(0, 'Number of Zone Identifiers'), ZID: u64Array(8, 511, 'Zone Identifiers: first LBAs') },
)
