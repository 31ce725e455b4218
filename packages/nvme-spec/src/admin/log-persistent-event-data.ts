import { CQE } from '../cqe.js'
import { ascii, bit, bits, inHex, oneOf, someOf, struct, structs, u16, u32, u64, u8 } from '../layout/index.js'
import { TimestampData } from './feature/timestamp.js'
import { SanitizeStatusLog } from './log-sanitize.js'

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
    SFPI: u8(4, 'Smallest Format Progress Indicator'),
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
