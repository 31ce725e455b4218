import { TimestampData } from './features.js'
import { SanitizeStatusLog } from './logs-health.js'
import { EnduranceGroupLog } from './logs-media.js'
import { CQE } from '../entries.js'
import {
  ascii,
  bit,
  bits,
  bytes,
  codes,
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

/** Types of persistent events (Base 2.1 §5.1.12.1.14.2, Figure 229). */
export const PERSISTENT_EVENT = codes(
  'PERSISTENT_EVENT',
  { doc: 'Persistent Event Log Event Types', spec: 'Base 2.1 §5.1.12.1.14.2' },
  {
    SMART_HEALTH_LOG_SNAPSHOT: 0x01,
    FIRMWARE_COMMIT: 0x02,
    TIMESTAMP_CHANGE: 0x03,
    POWER_ON_OR_RESET: 0x04,
    NVM_SUBSYSTEM_HARDWARE_ERROR: 0x05,
    CHANGE_NAMESPACE: 0x06,
    FORMAT_NVM_START: 0x07,
    FORMAT_NVM_COMPLETION: 0x08,
    SANITIZE_START: 0x09,
    SANITIZE_COMPLETION: 0x0a,
    SET_FEATURE: 0x0b,
    TELEMETRY_LOG_CREATED: 0x0c,
    THERMAL_EXCURSION: 0x0d,
    SANITIZE_MEDIA_VERIFICATION: 0x0e,
    VENDOR_SPECIFIC: 0xde,
    TCG_DEFINED: 0xdf,
  },
)

/**
 * Header of the Persistent Event Log (LID 0Dh; Base 2.3 §5.2.12.1.14, Figure 230). TNEV events follow, TLL bytes
 * including this header.
 */
export const PersistentEventLogHeader = struct(
  'Persistent Event Log header',
  { bytes: 512, doc: 'The header (LID 0Dh)', spec: 'Base 2.3 §5.2.12.1.14' },
  {
    LID: u8(0, 'Log Page Identifier: 0Dh'),
    TNEV: u32(4, 'Total Number of Events'),
    TLL: u64(8, 'Total Log Length in bytes'),
    LREV: u8(16, 'Log Revision'),
    LHL: u16(18, 'Log Header Length: bytes of the header after byte 19'),
    TSTMP: structs(20, 1, TimestampData, 'Timestamp of the reporting context'),
    POH: u128(28, 'Power On Hours'),
    PWRC: u64(44, 'Power Cycle Count'),
    VID: u16(52, 'PCI Vendor ID'),
    SSVID: u16(54, 'PCI Subsystem Vendor ID'),
    SN: ascii(56, 20, 'Serial Number'),
    MN: ascii(76, 40, 'Model Number'),
    SUBNQN: ascii(116, 256, 'NVM Subsystem NVMe Qualified Name', 0),
    GNUM: u16(372, 'Generation Number'),
    RCI: u32(374, 'Reporting Context Information', {
      RCPID: bits(15, 0, 'Reporting Context Port Identifier'),
      RCPIT: bits(17, 16, 'Port Identifier Type', { NO_CONTEXT: 0, NVM_SUBSYSTEM_PORT: 1, MANAGEMENT_ENDPOINT: 2 }),
      RCE: bit(18, 'Reporting Context Exists'),
    }),
    SEB: bytes(480, 32, 'Supported Events Bitmap: one bit per type'),
  },
)

/**
 * Header of a persistent event (Base 2.3 §5.2.12.1.14, Figure 231). The event is EHL + 3 + EL bytes long: EHL + 3 bytes
 * of header, VSIL vendor specific bytes, then the data of the event type.
 */
export const PersistentEventHeader = struct(
  'Persistent Event header',
  { bytes: 24, doc: 'Header of a persistent event', spec: 'Base 2.3 §5.2.12.1.14' },
  {
    ET: someOf(u8(0, 'Event Type'), PERSISTENT_EVENT.values),
    ETR: u8(1, 'Event Type Revision'),
    EHL: u8(2, 'Event Header Length: bytes of the header after byte 2'),
    EHAI: u8(3, 'Event Header Additional Information', {
      PIT: bits(1, 0, 'Port Identifier Type', {
        NOT_REPORTED: 0,
        NVM_SUBSYSTEM_PORT: 1,
        MANAGEMENT_ENDPOINT: 2,
        NO_PORT: 3,
      }),
    }),
    CNTLID: u16(4, 'Controller Identifier'),
    ETSTP: structs(6, 1, TimestampData, 'Event Timestamp'),
    PELPID: u16(14, 'Port Identifier'),
    VSIL: u16(20, 'Vendor Specific Information Length in bytes'),
    EL: u16(22, 'Event Length: bytes after the header'),
  },
)

/** Data of a Firmware Commit event, type 02h (Base 2.1 §5.1.12.1.14.2.2, Figure 231). */
export const FirmwareCommitEvent = struct(
  'Firmware Commit Event data',
  { bytes: 22, doc: 'Data of a Firmware Commit event', spec: 'Base 2.1 §5.1.12.1.14.2.2' },
  {
    OFR: ascii(0, 8, 'Old Firmware Revision'),
    NFR: ascii(8, 8, 'New Firmware Revision'),
    FCA: u8(16, 'Firmware Commit Action'),
    FSLT: u8(17, 'Firmware Slot'),
    STCTFCC: u8(18, 'Status Code Type of the command'),
    SRFCC: inHex(u8(19, 'Status Code of the command')),
    VAFCRC: u16(20, 'Vendor Assigned Firmware Commit Result Code'),
  },
)

/** Data of a Timestamp Change event, type 03h (Base 2.1 §5.1.12.1.14.2.3, Figure 232). */
export const TimestampChangeEvent = struct(
  'Timestamp Change Event data',
  { bytes: 16, doc: 'Data of a Timestamp Change event', spec: 'Base 2.1 §5.1.12.1.14.2.3' },
  {
    PTSTP: structs(0, 1, TimestampData, 'Previous Timestamp'),
    MSR: u64(8, 'Milliseconds Since Reset'),
  },
)

/**
 * Beginning of the data of a Power-on or Reset event, type 04h (Base 2.3 §5.2.12.1.14.2.4, Figure 237). A description
 * of each controller follows, to the end of the event.
 */
export const PowerOnOrResetEvent = struct(
  'Power-on or Reset Event data',
  { bytes: 8, doc: 'Power-on or Reset event header', spec: 'Base 2.3 §5.2.12.1.14.2.4' },
  { FREV: ascii(0, 8, 'Firmware Revision') },
)

/** A controller in the data of a Power-on or Reset event (Base 2.3 §5.2.12.1.14.2.4, Figure 238). */
export const ControllerResetInformation = struct(
  'Controller Reset Information',
  { bytes: 36, doc: 'A controller at a reset', spec: 'Base 2.3 §5.2.12.1.14.2.4' },
  {
    CNTLID: u16(0, 'Controller ID'),
    FA: oneOf(u8(2, 'Firmware Activation'), { NONE: 0, ACTIVATED: 1, FAILED: 2 }),
    OIP: u8(3, 'Operation in Progress', { RDNF: bit(0, 'Reset During NVM Format') }),
    CPWRC: u32(16, 'Controller Power Cycle'),
    POM: u64(20, 'Power on milliseconds'),
    CTSTP: structs(28, 1, TimestampData, 'Controller Timestamp'),
  },
)

/** Data of a Change Namespace event, type 06h (Base 2.1 §5.1.12.1.14.2.6, Figure 240). */
export const ChangeNamespaceEvent = struct(
  'Change Namespace Event data',
  { bytes: 48, doc: 'Data of a Change Namespace event', spec: 'Base 2.1 §5.1.12.1.14.2.6' },
  {
    NMCDW10: inHex(u32(0, 'Namespace Management CDW10')),
    NSZE: u64(8, 'Namespace Size'),
    NCAP: u64(24, 'Namespace Capacity'),
    FLBAS: u8(32, 'Formatted LBA Size'),
    DPS: u8(33, 'End-to-end Data Protection Type Settings'),
    NMIC: u8(34, 'Namespace Multi-path I/O and Sharing Capabilities'),
    ANAGRPID: u32(36, 'ANA Group Identifier'),
    NVMSETID: u16(40, 'NVM Set Identifier'),
    ENDGID: u16(42, 'Endurance Group Identifier'),
    NSID: u32(44, 'Namespace ID; FFFFFFFFh if all were deleted'),
  },
)

/** Data of a Format NVM Start event, type 07h (Base 2.3 §5.2.12.1.14.2.7). */
export const FormatStartEvent = struct(
  'Format NVM Start Event data',
  { bytes: 12, doc: 'Data of a Format NVM Start event', spec: 'Base 2.3 §5.2.12.1.14.2.7' },
  {
    NSID: u32(0, 'Namespace Identifier'),
    FNA: u8(4, 'Format NVM Attributes'),
    FMCDW10: inHex(u32(8, 'Format NVM CDW10')),
  },
)

/** Data of a Format NVM Completion event, type 08h (Base 2.3 §5.2.12.1.14.2.8; bytes 11:6 in Base 2.1 Figure 242). */
export const FormatCompletionEvent = struct(
  'Format NVM Completion Event data',
  { bytes: 12, doc: 'Data of a Format NVM Completion event', spec: 'Base 2.3 §5.2.12.1.14.2.8' },
  {
    NSID: u32(0, 'Namespace Identifier'),
    SFPI: u8(4, 'Smallest Format Progress Indicator in percent'),
    FNVMS: u8(5, 'Format NVM Status', { FNVME: bit(0, 'Format NVM Error'), INCPFT: bit(1, 'Incomplete Format') }),
    CINFO: u16(6, 'Completion Information, vendor specific'),
    INFO: u16(8, 'Status Info', CQE.fields.STATUS.rows),
  },
)

/** Data of a Sanitize Start event, type 09h (Base 2.1 §5.1.12.1.14.2.9, Figure 243). */
export const SanitizeStartEvent = struct(
  'Sanitize Start Event data',
  { bytes: 12, doc: 'Data of a Sanitize Start event', spec: 'Base 2.1 §5.1.12.1.14.2.9' },
  {
    SANICAP: inHex(u32(0, 'Sanitize Capabilities')),
    SCDW10: inHex(u32(4, 'Sanitize CDW10')),
    SCDW11: inHex(u32(8, 'Sanitize CDW11')),
  },
)

/** Data of a Sanitize Completion event, type 0Ah (Base 2.1 §5.1.12.1.14.2.10, Figure 244). */
export const SanitizeCompletionEvent = struct(
  'Sanitize Completion Event data',
  { bytes: 8, doc: 'Data of a Sanitize Completion event', spec: 'Base 2.1 §5.1.12.1.14.2.10' },
  {
    SPROG: u16(0, 'Sanitize Progress in 1/65,536'),
    SSTAT: u16(2, 'Sanitize Status', SanitizeStatusLog.fields.SSTAT.rows),
    CINFO: u16(4, 'Completion Information, vendor specific'),
  },
)

/**
 * Beginning of the data of a Set Feature event, type 0Bh (Base 2.1 §5.1.12.1.14.2.11, Figure 246). DWC Command Dwords
 * from Dword 10 follow, then MBC bytes of data, then Dword 0 of the completion if LCCDW0 is set.
 */
export const SetFeatureEvent = struct(
  'Set Feature Event data',
  { bytes: 4, doc: 'Set Feature event header', spec: 'Base 2.1 §5.1.12.1.14.2.11' },
  {
    SFEL: u32(0, 'Set Feature Event Layout', {
      DWC: bits(2, 0, 'Dword Count'),
      LCCDW0: bit(3, 'Logged Command Completion Dword 0'),
      MBC: bits(31, 16, 'Memory Buffer Count in bytes'),
    }),
  },
)

/** Data of a Thermal Excursion event, type 0Dh (Base 2.1 §5.1.12.1.14.2.13, Figure 248). */
export const ThermalExcursionEvent = struct(
  'Thermal Excursion Event data',
  { bytes: 2, doc: 'Data of a Thermal Excursion event', spec: 'Base 2.1 §5.1.12.1.14.2.13' },
  {
    OTMP: u8(0, 'Over Temperature: kelvins relative to the threshold'),
    THRESH: someOf(u8(1, 'Threshold'), {
      WCTEMP: 0x01,
      CCTEMP: 0x02,
      TMT1: 0x03,
      TMT2: 0x04,
      VENDOR_SPECIFIC_TEMPERATURE: 0x05,
      NORMAL_TEMPERATURE: 0x88,
      THERMAL_MANAGEMENT_STOPPED: 0x89,
      UNDER_TEMPERATURE: 0xb0,
    }),
  },
)

/**
 * Header of each part of a Vendor Specific event, type DEh (Base 2.1 §5.1.12.1.14.2.15, Figures 250 and 251). VSEDL
 * bytes follow.
 */
export const VendorSpecificEventDescriptor = struct(
  'Vendor Specific Event Descriptor',
  { bytes: 6, doc: 'Header of a part of a Vendor Specific event', spec: 'Base 2.1 §5.1.12.1.14.2.15' },
  {
    VSEC: u16(0, 'Vendor Specific Event Code'),
    VSEDT: someOf(u8(2, 'Data Type'), { EVENT_NAME: 1, ASCII_STRING: 2, BINARY: 3, SIGNED_INTEGER: 4 }),
    UIDX: u8(3, 'UUID Index'),
    VSEDL: u16(4, 'Data Length in bytes'),
  },
)

/**
 * Beginning of the data of an NVM Subsystem Hardware Error, a persistent event of type 05h (Base 2.3 §5.2.12.1.14.2.5,
 * Figures 239 and 240). What follows depends on the code: PcieHardwareError for 1 to 3, the Link Status register for 4,
 * the SMART log's Critical Warning for 6, EnduranceGroupWarning for 7, UnexpectedPowerLoss for 8, a completion queue
 * entry for 0Ah, ReadyTimeoutExceeded for 0Bh, nothing for others.
 */
export const HardwareErrorEvent = struct(
  'NVM Subsystem Hardware Error Event data',
  { bytes: 4, doc: 'Header of a hardware error event', spec: 'Base 2.3 §5.2.12.1.14.2.5' },
  {
    NSHEEC: someOf(u16(0, 'NVM Subsystem Hardware Error Event Code'), {
      PCIE_CORRECTABLE_ERROR: 0x01,
      PCIE_UNCORRECTABLE_NON_FATAL_ERROR: 0x02,
      PCIE_UNCORRECTABLE_FATAL_ERROR: 0x03,
      PCIE_LINK_STATUS_CHANGE: 0x04,
      PCIE_LINK_NOT_ACTIVE: 0x05,
      CRITICAL_WARNING_CONDITION: 0x06,
      ENDURANCE_GROUP_CRITICAL_WARNING_CONDITION: 0x07,
      UNEXPECTED_POWER_LOSS: 0x08,
      CONTROLLER_FATAL_STATUS: 0x09,
      MEDIA_AND_DATA_INTEGRITY_STATUS: 0x0a,
      CONTROLLER_READY_TIMEOUT_EXCEEDED: 0x0b,
    }),
  },
)

/**
 * Additional information of a PCIe error: registers at the time of the error (Base 2.3 §5.2.12.1.14.2.5, Figure 242).
 */
export const PcieHardwareError = struct(
  'PCIe hardware error',
  { bytes: 80, doc: 'PCI Express registers at the time of an error', spec: 'Base 2.3 §5.2.12.1.14.2.5' },
  {
    PCIEDSR: u16(0, 'PCIe Device Status Register'),
    PCIEAS: u8(2, 'PCIe AER Support', { PCIEAERS: bit(0, 'PCIe AER Supported: bytes 79:16 are reported') }),
    PCIEAES: bytes(16, 16, 'PCIe AER Error Status'),
    PCIEAEM: bytes(32, 16, 'PCIe AER Error Mask'),
    PCIEAHLR: bytes(48, 16, 'PCIe AER Header Log Register'),
    PCIEATPLR: bytes(64, 16, 'PCIe AER TLP Prefix Log Register'),
  },
)

/** Additional information of an Endurance Group Critical Warning Condition (Base 2.3 §5.2.12.1.14.2.5, Figure 240). */
export const EnduranceGroupWarning = struct(
  'Endurance Group Critical Warning Condition',
  { bytes: 4, doc: 'An Endurance Group and its critical warnings', spec: 'Base 2.3 §5.2.12.1.14.2.5' },
  {
    EGCW: u8(0, 'Endurance Group Critical Warning', EnduranceGroupLog.fields.EGCW.rows),
    EGID: u16(2, 'Endurance Group Identifier'),
  },
)

/** Additional information of an Unexpected Power Loss (Base 2.3 §5.2.12.1.14.2.5, Figure 241). */
export const UnexpectedPowerLoss = struct(
  'Unexpected Power Loss',
  { bytes: 17, doc: 'Unexpected power losses', spec: 'Base 2.3 §5.2.12.1.14.2.5' },
  {
    UPL: u128(0, 'Unexpected Power Losses, as in the SMART log'),
    UPLIA: u8(16, 'Unexpected Power Loss Information', {
      UPLOA: bit(0, 'Unexpected Power Loss Due to Out-Of-Band Activity'),
    }),
  },
)

/** Additional information of Controller Ready Timeout Exceeded (Base 2.1 §5.1.12.1.14.2.5, Figure 239). */
export const ReadyTimeoutExceeded = struct(
  'Controller Ready Timeout Exceeded',
  { bytes: 4, doc: 'Components not ready in time', spec: 'Base 2.1 §5.1.12.1.14.2.5' },
  {
    CST: u8(0, 'Controller State', {
      CRIME: bit(0, 'Controller Ready Independent of Media Enable'),
      NNR: bit(1, 'Namespace Not Ready'),
      ACMNR: bit(2, 'Admin Command Media Not Ready'),
      CNR: bit(3, 'Controller Not Ready'),
    }),
  },
)
