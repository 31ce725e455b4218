import { CSI } from './identify.js'
import { CQE } from '../entries.js'
import {
  ascii,
  bit,
  bits,
  bytes,
  inHex,
  oneOf,
  openBits,
  someOf,
  struct,
  structs,
  u128,
  u16,
  u32,
  u32Array,
  u64,
  u8,
  word32,
  merge,
} from '../layout/index.js'

/**
 * An entry of Error Information (LID 01h; Base 2.3 §5.2.12.1.2, Figure 209), most recent first. SQID, CID and PEL are
 * FFFFh for an error that belongs to no command. CSI and OPC are valid if LPVER is 1 or more. STS has the rows of a
 * completion's status. Names of TRTYPE: libnvme 1.3 `nvmf_trtype`.
 */
export const ErrorLogEntry = struct(
  'Error Information Log Entry',
  { bytes: 64, doc: 'An error log entry (LID 01h)', spec: 'Base 2.3 §5.2.12.1.2' },
  {
    ECNT: u64(0, 'Error Count; 0 means no entry'),
    SQID: u16(8, 'Submission Queue ID'),
    CID: inHex(u16(10, 'Command ID')),
    STS: u16(12, 'Status Info', CQE.fields.STATUS.rows),
    PEL: u16(14, 'Parameter Error Location', {
      BYTLOC: bits(7, 0, 'Byte Location in the submission queue entry'),
      BITLOC: bits(10, 8, 'Bit Location in that byte'),
    }),
    LBA: u64(16, 'Logical Block Address'),
    NSID: u32(24, 'Namespace Identifier'),
    VSIA: inHex(u8(28, 'LID of Vendor Specific Information Available')),
    TRTYPE: someOf(u8(29, 'Transport Type'), { NONE: 0, RDMA: 1, FC: 2, TCP: 3 }),
    CSI: someOf(u8(30, 'Command Set Indicator'), CSI.values),
    OPC: inHex(u8(31, 'Opcode')),
    CSINFO: u64(32, 'Command Specific Information'),
    TTSI: u16(40, 'Transport Type Specific Information'),
    LPVER: u8(63, 'Log Page Version'),
  },
)

/**
 * SMART / Health Information (LID 02h; Base 2.1 §5.1.12.1.3, Figures 206 and 207). Temperatures are in kelvins, as on
 * the wire; 128-bit counters are bigints. A temperature sensor that does not exist reads 0.
 */
export const SmartHealthLog = struct(
  'SMART / Health Information',
  { bytes: 512, doc: 'The log page (LID 02h)', spec: 'Base 2.1 §5.1.12.1.3' },
  {
    CW: u8(0, 'Critical Warning', {
      ASCBT: bit(0, 'Available Spare Capacity Below Threshold'),
      TTC: bit(1, 'Temperature Threshold Condition'),
      NDR: bit(2, 'NVM Subsystem Degraded Reliability'),
      AMRO: bit(3, 'All Media Read-Only'),
      VMBF: bit(4, 'Volatile Memory Backup Failed'),
      PMRRO: bit(5, 'Persistent Memory Region Read-Only'),
    }),
    CTEMP: u16(1, 'Composite Temperature in kelvins'),
    AVSP: u8(3, 'Available Spare in percent'),
    AVSPT: u8(4, 'Available Spare Threshold in percent'),
    PUSED: u8(5, 'Percentage Used; 255 means more than 254'),
    EGCWS: u8(6, 'Endurance Group Critical Warning Summary', {
      EGASCBT: bit(0, 'Endurance Group Available Spare Capacity Below Threshold'),
      EGDR: bit(2, 'Endurance Group Degraded Reliability'),
      EGRO: bit(3, 'Endurance Group Read-Only'),
    }),
    DUR: u128(32, 'Data Units Read, in units of 1,000 * 512 bytes'),
    DUW: u128(48, 'Data Units Written, in units of 1,000 * 512 bytes'),
    HRC: u128(64, 'Host Read Commands'),
    HWC: u128(80, 'Host Write Commands'),
    CBT: u128(96, 'Controller Busy Time in minutes'),
    PWRC: u128(112, 'Power Cycles'),
    POH: u128(128, 'Power On Hours'),
    UPL: u128(144, 'Unexpected Power Losses'),
    MDIE: u128(160, 'Media and Data Integrity Errors'),
    NEILE: u128(176, 'Number of Error Information Log Entries'),
    WCTT: u32(192, 'Warning Composite Temperature Time in minutes'),
    CCTT: u32(196, 'Critical Composite Temperature Time in minutes'),
    TSEN1: u16(200, 'Temperature Sensor 1 in kelvins'),
    TSEN2: u16(202, 'Temperature Sensor 2 in kelvins'),
    TSEN3: u16(204, 'Temperature Sensor 3 in kelvins'),
    TSEN4: u16(206, 'Temperature Sensor 4 in kelvins'),
    TSEN5: u16(208, 'Temperature Sensor 5 in kelvins'),
    TSEN6: u16(210, 'Temperature Sensor 6 in kelvins'),
    TSEN7: u16(212, 'Temperature Sensor 7 in kelvins'),
    TSEN8: u16(214, 'Temperature Sensor 8 in kelvins'),
    TMT1TC: u32(216, 'Thermal Management Temperature 1 Transition Count'),
    TMT2TC: u32(220, 'Thermal Management Temperature 2 Transition Count'),
    TTTMT1: u32(224, 'Total Time For Thermal Management Temperature 1 in seconds'),
    TTTMT2: u32(228, 'Total Time For Thermal Management Temperature 2 in seconds'),
  },
)

/** Firmware Slot Information (LID 03h; Base 2.3 §5.2.12.1.4, Figure 212). A slot without firmware reads as ''. */
export const FirmwareSlotLog = struct(
  'Firmware Slot Information',
  { bytes: 512, doc: 'The log page (LID 03h)', spec: 'Base 2.3 §5.2.12.1.4' },
  {
    AFI: u8(0, 'Active Firmware Info', {
      CAFS: bits(2, 0, 'Current Active Firmware Slot'),
      NAFS: bits(6, 4, 'Next Active Firmware Slot; 0 means not reported'),
    }),
    FRS1: ascii(8, 8, 'Firmware Revision for Slot 1'),
    FRS2: ascii(16, 8, 'Firmware Revision for Slot 2'),
    FRS3: ascii(24, 8, 'Firmware Revision for Slot 3'),
    FRS4: ascii(32, 8, 'Firmware Revision for Slot 4'),
    FRS5: ascii(40, 8, 'Firmware Revision for Slot 5'),
    FRS6: ascii(48, 8, 'Firmware Revision for Slot 6'),
    FRS7: ascii(56, 8, 'Firmware Revision for Slot 7'),
  },
)

/**
 * Changed Attached Namespace List (LID 04h; Base 2.3 §5.2.12.1.5): namespaces attached, detached, deleted or with
 * changed Identify data since the page was last read; zero filled. A first entry of FFFFFFFFh means more than 1,024
 * namespaces.
 */
export const ChangedAttachedNamespaceList = struct(
  'Changed Attached Namespace List',
  { bytes: 4096, doc: 'Changed attached namespaces (LID 04h)', spec: 'Base 2.3 §5.2.12.1.5' },
  { NSID: u32Array(0, 1024, 'Namespace Identifiers') },
)

/** Changed Allocated Namespace List (LID 1Ch; Base 2.3 §5.2.12.1.27), in the same form. */
export const ChangedAllocatedNamespaceList = struct(
  'Changed Allocated Namespace List',
  { bytes: 4096, doc: 'Changed allocated namespaces (LID 1Ch)', spec: 'Base 2.3 §5.2.12.1.27' },
  { NSID: u32Array(0, 1024, 'Namespace Identifiers') },
)

// In the figures the scopes are bits of a field of their own (CSP, FSP); here they are rows of the whole word. The name
// of the NVM Set Scope is that of Figure 267: Base 2.1 gives NSSCPE to two bits.
const scopes = {
  NSCPE: bit(20, 'Namespace Scope'),
  CSCPE: bit(21, 'Controller Scope'),
  NSETSCPE: bit(22, 'NVM Set Scope'),
  EGSCPE: bit(23, 'Endurance Group Scope'),
  DSCPE: bit(24, 'Domain Scope'),
  NSSCPE: bit(25, 'NVM Subsystem Scope'),
}

const changes = {
  NCC: bit(2, 'Namespace Capability Change'),
  NIC: bit(3, 'Namespace Inventory Change'),
  CCC: bit(4, 'Controller Capability Change'),
}

/** Side effects of a command (Base 2.3 §5.2.12.1.6, Figure 214; bits 31:16 in Base 2.1 Figure 210). */
export const CommandEffects = word32(
  'Commands Supported and Effects data',
  { doc: 'Support and effects of a command', spec: 'Base 2.3 §5.2.12.1.6' },
  merge(
    { CSUPP: bit(0, 'Command Supported'), LBCC: bit(1, 'Logical Block Content Change') },
    changes,
    {
      CSER: bits(15, 14, 'Command Submission and Execution Relaxations', { NONE: 0, NO_OTHER_ADMIN_COMMAND: 1 }),
      CSE: bits(18, 16, 'Command Submission and Execution', {
        NO_RESTRICTION: 0,
        ALONE_ON_NAMESPACE: 1,
        ALONE_ON_ANY_NAMESPACE: 2,
      }),
      USS: bit(19, 'UUID Selection Supported'),
    },
    scopes,
  ),
)

/** Commands Supported and Effects (LID 05h; Base 2.3 §5.2.12.1.6, Figure 213): the index is the opcode. */
export const CommandEffectsLog = struct(
  'Commands Supported and Effects',
  { bytes: 4096, doc: 'The log page (LID 05h)', spec: 'Base 2.3 §5.2.12.1.6' },
  {
    ACS: u32Array(0, 256, 'Admin Command Supported, by opcode', CommandEffects.fields),
    IOCS: u32Array(1024, 256, 'I/O Command Supported, by opcode', CommandEffects.fields),
  },
)

/** Side effects of setting a feature (Base 2.1 §5.1.12.1.18, Figure 262). */
export const FeatureEffects = word32(
  'FID Supported and Effects',
  { doc: 'Support and effects of a feature', spec: 'Base 2.1 §5.1.12.1.18' },
  merge(
    { FSUPP: bit(0, 'FID Supported'), UDCC: bit(1, 'User Data Content Change') },
    changes,
    { USS: bit(19, 'UUID Selection Supported') },
    scopes,
    { CDQSCP: bit(26, 'Controller Data Queue') },
  ),
)

/** Feature Identifiers Supported and Effects (LID 12h; Base 2.1 §5.1.12.1.18, Figure 261): the index is the FID. */
export const FeatureEffectsLog = struct(
  'Feature Identifiers Supported and Effects',
  { bytes: 1024, doc: 'Feature Identifiers Supported and Effects (LID 12h)', spec: 'Base 2.1 §5.1.12.1.18' },
  { FIS: u32Array(0, 256, 'Feature Identifier Supported, by FID', FeatureEffects.fields) },
)

/** Side effects of a command of the management interface (Base 2.3 §5.2.12.1.19, Figure 269). */
export const ManagementCommandEffects = word32(
  'NVMe-MI Commands Supported and Effects data',
  { doc: 'Support and effects of a management command', spec: 'Base 2.3 §5.2.12.1.19' },
  merge({ CSUPP: bit(0, 'Command Supported'), UDCC: bit(1, 'User Data Content Change') }, changes, scopes),
)

/** NVMe-MI Commands Supported and Effects (LID 13h; Base 2.1 §5.1.12.1.19, Figure 263): the index is the opcode. */
export const ManagementCommandEffectsLog = struct(
  'NVMe-MI Commands Supported and Effects',
  { bytes: 4096, doc: 'NVMe-MI Commands Supported and Effects (LID 13h)', spec: 'Base 2.1 §5.1.12.1.19' },
  { MICS: u32Array(0, 256, 'Commands by opcode', ManagementCommandEffects.fields) },
)

/** Result of a self-test (Base 2.3 §5.2.12.1.7, Figure 216; bytes 27:4 in Base 2.1 Figure 212). */
export const SelfTestResult = struct(
  'Self-test Result',
  { bytes: 28, doc: 'Result of a device self-test', spec: 'Base 2.3 §5.2.12.1.7' },
  {
    DSTS: u8(0, 'Device Self-test Status', {
      DSTR: bits(3, 0, 'Device Self-test Result', {
        COMPLETED: 0x0,
        ABORTED_BY_COMMAND: 0x1,
        ABORTED_BY_RESET: 0x2,
        ABORTED_BY_NAMESPACE_REMOVAL: 0x3,
        ABORTED_BY_FORMAT: 0x4,
        FATAL_ERROR: 0x5,
        UNKNOWN_SEGMENT_FAILED: 0x6,
        SEGMENT_FAILED: 0x7,
        ABORTED_UNKNOWN: 0x8,
        ABORTED_BY_SANITIZE: 0x9,
        EMPTY: 0xf,
      }),
      DSTC: openBits(7, 4, 'Self-test Code', {
        EMPTY: 0x0,
        SHORT: 0x1,
        EXTENDED: 0x2,
        HOST_INITIATED_REFRESH: 0x3,
        VENDOR_SPECIFIC: 0xe,
      }),
    }),
    SEGN: u8(1, 'Segment Number of the first failed segment'),
    VDINFO: u8(2, 'Valid Diagnostic Information', {
      NSIDVLD: bit(0, 'NSID Valid'),
      FVLD: bit(1, 'FLBA Valid'),
      SCTVLD: bit(2, 'SCT Valid'),
      SCVLD: bit(3, 'SC Valid'),
    }),
    POH: u64(4, 'Power On Hours'),
    NSID: u32(12, 'Namespace Identifier'),
    FLBA: u64(16, 'Failing LBA'),
    STCT: u8(24, 'Status Code Type', { ASTCI: bits(2, 0, 'Additional Status Code Info') }),
    STC: inHex(u8(25, 'Status Code')),
    VS: inHex(u16(26, 'Vendor Specific')),
  },
)

/** Device Self-test (LID 06h; Base 2.3 §5.2.12.1.7, Figure 215): newest result first. */
export const SelfTestLog = struct(
  'Device Self-test log',
  { bytes: 564, doc: 'The log page (LID 06h)', spec: 'Base 2.3 §5.2.12.1.7' },
  {
    CDSTO: u8(0, 'Current Device Self-Test Operation', {
      DSTOS: openBits(3, 0, 'Device Self-test Operation Status', {
        NONE: 0x0,
        SHORT: 0x1,
        EXTENDED: 0x2,
        HOST_INITIATED_REFRESH: 0x3,
        VENDOR_SPECIFIC: 0xe,
      }),
    }),
    CDSTC: u8(1, 'Current Device Self-Test Completion', {
      DSTCS: bits(6, 0, 'Device Self-test Completion Status in percent'),
    }),
    RDS: structs(4, 20, SelfTestResult, 'Result Data Structures, newest first'),
  },
)

/** Length in bytes of a Telemetry Data Block, the unit of reads and of data area limits (Base 2.1 §5.1.12.1.8). */
export const TELEMETRY_BLOCK_BYTES = 512

const telemetryScopes = { NOT_REPORTED: 0, CONTROLLER: 1, NVM_SUBSYSTEM: 2 }

/**
 * Header of Telemetry Host-Initiated (LID 07h; Base 2.1 §5.1.12.1.8, Figure 214). Data blocks of 512 bytes follow,
 * numbered from 1; data area y is blocks 1 to THDAyLB.
 */
export const TelemetryHostHeader = struct(
  'Telemetry Host-Initiated header',
  { bytes: 512, doc: 'The header (LID 07h)', spec: 'Base 2.1 §5.1.12.1.8' },
  {
    LID: u8(0, 'Log Page Identifier: 07h'),
    IEEE: bytes(5, 3, 'IEEE OUI Identifier'),
    THDA1LB: u16(8, 'Data Area 1 Last Block'),
    THDA2LB: u16(10, 'Data Area 2 Last Block'),
    THDA3LB: u16(12, 'Data Area 3 Last Block'),
    THDA4LB: u32(16, 'Data Area 4 Last Block'),
    THS: oneOf(u8(380, 'Telemetry Host-Initiated Scope'), telemetryScopes),
    THDGN: u8(381, 'Host-Initiated Data Generation Number'),
    TCDA: u8(382, 'Controller-Initiated Data Available'),
    TCDGN: u8(383, 'Controller-Initiated Data Generation Number'),
    RID: bytes(384, 128, 'Reason Identifier, vendor specific'),
  },
)

/**
 * Header of Telemetry Controller-Initiated (LID 08h; Base 2.1 §5.1.12.1.9, Figure 216). If TCDA is 1, data blocks
 * follow as in Telemetry Host-Initiated.
 */
export const TelemetryControllerHeader = struct(
  'Telemetry Controller-Initiated header',
  { bytes: 512, doc: 'The header (LID 08h)', spec: 'Base 2.1 §5.1.12.1.9' },
  {
    LID: u8(0, 'Log Page Identifier: 08h'),
    IEEE: bytes(5, 3, 'IEEE OUI Identifier'),
    TCDA1LB: u16(8, 'Data Area 1 Last Block'),
    TCDA2LB: u16(10, 'Data Area 2 Last Block'),
    TCDA3LB: u16(12, 'Data Area 3 Last Block'),
    TCDA4LB: u32(16, 'Data Area 4 Last Block'),
    TCS: oneOf(u8(381, 'Telemetry Controller-Initiated Scope'), telemetryScopes),
    TCDA: u8(382, 'Controller-Initiated Data Available'),
    TCDGN: u8(383, 'Controller-Initiated Data Generation Number'),
    RID: bytes(384, 128, 'Reason Identifier, vendor specific'),
  },
)

const states = {
  IDLE: 0,
  RESTRICTED_PROCESSING: 1,
  RESTRICTED_FAILURE: 2,
  UNRESTRICTED_PROCESSING: 3,
  UNRESTRICTED_FAILURE: 4,
  MEDIA_VERIFICATION: 5,
  POST_VERIFICATION_DEALLOCATION: 6,
}

/**
 * Sanitize Status (LID 81h; Base 2.1 §5.1.12.1.33, Figure 291). Estimated times are in seconds; FFFFFFFFh means not
 * reported. SPROG is FFFFh if no sanitize operation is in progress.
 */
export const SanitizeStatusLog = struct(
  'Sanitize Status',
  { bytes: 512, doc: 'The log page (LID 81h)', spec: 'Base 2.1 §5.1.12.1.33' },
  {
    SPROG: u16(0, 'Sanitize Progress in 1/65,536'),
    SSTAT: u16(2, 'Sanitize Status', {
      SOS: bits(2, 0, 'Sanitize Operation Status', {
        NEVER_STARTED: 0,
        SANITIZED: 1,
        SANITIZING: 2,
        FAILED: 3,
        SANITIZED_UNEXPECTED_DEALLOCATE: 4,
      }),
      OPC: bits(7, 3, 'Overwrite Passes Completed'),
      GDE: bit(8, 'Global Data Erased'),
      MVCNCLD: bit(9, 'Media Verification Canceled'),
    }),
    SCDW10: inHex(u32(4, 'Sanitize Command Dword 10')),
    ETO: u32(8, 'Estimated Time For Overwrite in seconds'),
    ETBE: u32(12, 'Estimated Time For Block Erase in seconds'),
    ETCE: u32(16, 'Estimated Time For Crypto Erase in seconds'),
    ETODMM: u32(20, 'as ETO, With No-Deallocate Media Modification'),
    ETBENMM: u32(24, 'as ETBE, With No-Deallocate Media Modification'),
    ETCENMM: u32(28, 'as ETCE, With No-Deallocate Media Modification'),
    ETPVDS: u32(32, 'Estimated Time For Post-Verification Deallocation State in seconds'),
    SSI: u8(36, 'Sanitize State Information', {
      SANS: openBits(3, 0, 'Sanitize State', states),
      FAILS: openBits(7, 4, 'Failure State', states),
    }),
  },
)

/** Command and Feature Lockdown (LID 14h; Base 2.1 §5.1.12.1.20, Figure 266). */
export const LockdownLog = struct(
  'Command and Feature Lockdown',
  { bytes: 512, doc: 'The log page (LID 14h)', spec: 'Base 2.1 §5.1.12.1.20' },
  {
    CFILA: u8(0, 'Command and Feature Identifier List Attributes', {
      SS: bits(3, 0, 'Scope Selected', { ADMIN_OPCODE: 0, FEATURE: 2, MANAGEMENT_OPCODE: 3, PCIE_OPCODE: 4 }),
      CS: bits(5, 4, 'Contents Selected', { CAN_BE_PROHIBITED: 0, PROHIBITED: 1, PROHIBITED_OUT_OF_BAND: 2 }),
    }),
    LNGTH: u8(3, 'Length of the list in bytes'),
    CFIL: bytes(4, 508, 'Opcodes or Feature Identifiers, increasing'),
  },
)

/**
 * Header of Boot Partition (LID 15h; Base 2.3 §5.2.12.1.21, Figure 273). Its contents follow: BPSZ units of 128 KiB.
 */
export const BootPartitionHeader = struct(
  'Boot Partition header',
  { bytes: 16, doc: 'The header (LID 15h)', spec: 'Base 2.3 §5.2.12.1.21' },
  {
    LID: u8(0, 'Log Page Identifier: 15h'),
    BPINFO: u32(4, 'Boot Partition Information', {
      BPSZ: bits(14, 0, 'Boot Partition Size, in 128 KiB units'),
      ABPID: bit(31, 'Active Boot Partition ID'),
    }),
  },
)
