import {
  adminCommand,
  bit,
  bits,
  cdw,
  cdwBit,
  cdwOpen,
  codes,
  rejectValue,
  struct,
  u32Array,
  word32,
} from '../layout/index.js'

/**
 * Log Page Identifiers (Base 2.1 §5.1.12, Figure 202; LBA Status Information from NVM 1.2 §4.1.4, the eye opening
 * measurement from PCIe 1.2 §3.9.1.1, Changed Zone List from libnvme 1.3 `nvme_cmd_get_log_lid`). C0h to FFh are vendor
 * specific; all others not listed are reserved.
 */
export const LID = codes(
  'LID',
  { doc: 'Log Page Identifiers', spec: 'Base 2.1 §5.1.12' },
  {
    SUPPORTED_LOG_PAGES: 0x00,
    ERROR_INFORMATION: 0x01,
    SMART_HEALTH_INFORMATION: 0x02,
    FIRMWARE_SLOT_INFORMATION: 0x03,
    CHANGED_ATTACHED_NAMESPACE_LIST: 0x04,
    COMMANDS_SUPPORTED_AND_EFFECTS: 0x05,
    DEVICE_SELF_TEST: 0x06,
    TELEMETRY_HOST_INITIATED: 0x07,
    TELEMETRY_CONTROLLER_INITIATED: 0x08,
    ENDURANCE_GROUP_INFORMATION: 0x09,
    PREDICTABLE_LATENCY_PER_NVM_SET: 0x0a,
    PREDICTABLE_LATENCY_EVENT_AGGREGATE: 0x0b,
    ASYMMETRIC_NAMESPACE_ACCESS: 0x0c,
    PERSISTENT_EVENT_LOG: 0x0d,
    LBA_STATUS_INFORMATION: 0x0e,
    ENDURANCE_GROUP_EVENT_AGGREGATE: 0x0f,
    MEDIA_UNIT_STATUS: 0x10,
    SUPPORTED_CAPACITY_CONFIGURATION_LIST: 0x11,
    FEATURE_IDENTIFIERS_SUPPORTED_AND_EFFECTS: 0x12,
    NVME_MI_COMMANDS_SUPPORTED_AND_EFFECTS: 0x13,
    COMMAND_AND_FEATURE_LOCKDOWN: 0x14,
    BOOT_PARTITION: 0x15,
    ROTATIONAL_MEDIA_INFORMATION: 0x16,
    DISPERSED_NAMESPACE_PARTICIPATING_NVM_SUBSYSTEMS: 0x17,
    MANAGEMENT_ADDRESS_LIST: 0x18,
    PHYSICAL_INTERFACE_RECEIVER_EYE_OPENING_MEASUREMENT: 0x19,
    REACHABILITY_GROUPS: 0x1a,
    REACHABILITY_ASSOCIATIONS: 0x1b,
    CHANGED_ALLOCATED_NAMESPACE_LIST: 0x1c,
    FDP_CONFIGURATIONS: 0x20,
    RECLAIM_UNIT_HANDLE_USAGE: 0x21,
    FDP_STATISTICS: 0x22,
    FDP_EVENTS: 0x23,
    DISCOVERY: 0x70,
    HOST_DISCOVERY: 0x71,
    AVE_DISCOVERY: 0x72,
    PULL_MODEL_DDC_REQUEST: 0x73,
    RESERVATION_NOTIFICATION: 0x80,
    SANITIZE_STATUS: 0x81,
    CHANGED_ZONE_LIST: 0xbf,
  },
)

/**
 * Returns a part of a log page (Base 2.1 §5.1.12, Figures 196 to 201). Five fields select the part; `logPagePart` fills
 * them.
 */
export const GetLogPage = adminCommand(
  'Get Log Page',
  { opcode: 0x02, doc: 'Returns a part of a log page', spec: 'Base 2.1 §5.1.12' },
  {
    LID: cdwOpen(10, 7, 0, 'Log Page Identifier', LID.values),
    LSP: cdw(10, 14, 8, 'Log Specific Parameter'),
    RAE: cdwBit(10, 15, 'Retain Asynchronous Event'),
    NUMDL: cdw(10, 31, 16, "Number of Dwords Lower, 0's based with NUMDU"),
    NUMDU: cdw(11, 15, 0, 'Number of Dwords Upper'),
    LSI: cdw(11, 31, 16, 'Log Specific Identifier'),
    LPOL: cdw(12, 31, 0, 'Log Page Offset Lower'),
    LPOU: cdw(13, 31, 0, 'Log Page Offset Upper'),
    UIDX: cdw(14, 6, 0, 'UUID Index'),
    OT: cdwBit(14, 23, 'Offset Type: 0 for bytes, 1 for an index'),
    CSI: cdw(14, 31, 24, 'Command Set Identifier'),
  },
)

/** The fields of Get Log Page that select a part of the page. */
export interface LogPagePart {
  readonly NUMDL: number
  readonly NUMDU: number
  readonly LPOL: number
  readonly LPOU: number
  readonly OT: 0 | 1
}

/**
 * Returns the fields of Get Log Page for `dwords` dwords from `offset`: `{ LID: 2, ...logPagePart(128) }`. The offset
 * is in bytes; if `of` is 'index', it is in entries of the page's list, which not every log page supports (Base 2.1
 * §5.1.12).
 * @throws TypeError or RangeError for a count or an offset that does not fit the fields, and for a byte offset that is
 *   not a multiple of four, whose low bits a controller may ignore; RangeError for another string as `of`.
 */
export function logPagePart(dwords: number, offset: number | bigint = 0, of: 'bytes' | 'index' = 'bytes'): LogPagePart {
  const where = (field: string) => ({ name: `${GetLogPage.name}.${field}`, spec: GetLogPage.spec })
  if (!(Number.isInteger(dwords) && dwords >= 1 && dwords <= 2 ** 32))
    rejectValue(where('NUMD'), 'Number of Dwords', 'an integer from 1 to 4294967296', dwords)
  const type = typeof offset === 'bigint' ? 'bigint' : 'number'
  const exact = type === 'bigint' || Number.isSafeInteger(offset)
  if (!exact || offset < 0 || BigInt.asUintN(64, BigInt(offset)) !== BigInt(offset))
    rejectValue(where('LPO'), 'Log Page Offset', 'a safe integer or a bigint from 0 to 2^64 - 1', offset, type)
  if (!['bytes', 'index'].includes(of)) rejectValue(where('OT'), 'Offset Type', "'bytes' or 'index'", of, 'string')
  const wide = BigInt(offset)
  if (of === 'bytes' && wide % 4n !== 0n)
    rejectValue(where('LPO'), 'Log Page Offset', 'a multiple of 4 bytes', offset, type)
  const numd = dwords - 1
  return {
    NUMDL: numd % 0x1_0000,
    NUMDU: Math.floor(numd / 0x1_0000),
    LPOL: Number(wide & 0xffff_ffffn),
    LPOU: Number(wide >> 32n),
    OT: of === 'index' ? 1 : 0,
  }
}

// Contents of Get Log Page's field LSP, for the log pages that use it. The figures number the bits of Command Dword 10,
// in which LSP begins at bit 8; these rows count from bit 0 of LSP: `{ LID: 0x0d, LSP: PersistentEventLsp.encode({ ACT:
// 1 }) }`.

/** LSP of Telemetry Host-Initiated (LID 07h; Base 2.1 §5.1.12.1.8, Figure 213). */
export const TelemetryHostLsp = word32(
  'Telemetry Host-Initiated LSP',
  { doc: 'Capture of new telemetry data', spec: 'Base 2.1 §5.1.12.1.8' },
  {
    CTHID: bit(0, 'Create Telemetry Host-Initiated Data'),
    MCDA: bits(3, 1, 'Maximum Created Data Area', {
      CONTROLLER_DETERMINES: 0,
      DATA_AREA_1: 1,
      DATA_AREAS_1_TO_2: 2,
      DATA_AREAS_1_TO_3: 3,
      DATA_AREAS_1_TO_4: 4,
    }),
  },
)

/** LSP of Asymmetric Namespace Access (LID 0Ch; Base 2.3 §5.2.12.1.13, Figure 226). */
export const AnaLsp = word32(
  'Asymmetric Namespace Access LSP',
  { doc: 'Omission of namespaces', spec: 'Base 2.3 §5.2.12.1.13' },
  { RGO: bit(0, 'Return Groups Only') },
)

/** LSP of the Persistent Event Log (LID 0Dh; Base 2.3 §5.2.12.1.14, Figure 229). */
export const PersistentEventLsp = word32(
  'Persistent Event Log LSP',
  { doc: 'Action on the reporting context', spec: 'Base 2.3 §5.2.12.1.14' },
  {
    ACT: bits(1, 0, 'Action', {
      READ: 0,
      ESTABLISH_CONTEXT_AND_READ: 1,
      RELEASE_CONTEXT: 2,
      ESTABLISH_CONTEXT_AND_READ_HEADER: 3,
    }),
  },
)

/** LSP of Command and Feature Lockdown (LID 14h; Base 2.3 §5.2.12.1.20, Figure 270). */
export const LockdownLsp = word32(
  'Command and Feature Lockdown LSP',
  { doc: 'Contents of the list', spec: 'Base 2.3 §5.2.12.1.20' },
  {
    SCP: bits(3, 0, 'Scope', { ADMIN_OPCODE: 0, FEATURE: 2, MANAGEMENT_OPCODE: 3, PCIE_OPCODE: 4 }),
    CNTTS: bits(5, 4, 'Contents', { CAN_BE_PROHIBITED: 0, PROHIBITED: 1, PROHIBITED_OUT_OF_BAND: 2 }),
  },
)

/** LSP of Boot Partition (LID 15h; Base 2.3 §5.2.12.1.21, Figure 272). */
export const BootPartitionLsp = word32(
  'Boot Partition LSP',
  { doc: 'Selected Boot Partition', spec: 'Base 2.3 §5.2.12.1.21' },
  { BPID: bit(0, 'Boot Partition Identifier') },
)

/** LSP of Reachability Groups (LID 1Ah; Base 2.3 §5.2.12.1.25, Figure 278). */
export const ReachabilityGroupsLsp = word32(
  'Reachability Groups LSP',
  { doc: 'Omission of namespaces', spec: 'Base 2.3 §5.2.12.1.25' },
  { RGO: bit(0, 'Return Groups Only') },
)

/** LSP of Reachability Associations (LID 1Bh; Base 2.3 §5.2.12.1.26, Figure 281). */
export const ReachabilityAssociationsLsp = word32(
  'Reachability Associations LSP',
  { doc: 'Omission of groups', spec: 'Base 2.3 §5.2.12.1.26' },
  { RAO: bit(0, 'Return Associations Only') },
)

/** LSP of FDP Events (LID 23h; Base 2.1 §5.1.12.1.31, Figure 287). */
export const FdpEventsLsp = word32(
  'FDP Events LSP',
  { doc: 'Selected event types', spec: 'Base 2.1 §5.1.12.1.31' },
  { FDPET: bits(0, 0, 'FDP Event Type', { CONTROLLER_EVENTS: 0, HOST_EVENTS: 1 }) },
)

/** LIDSP of Telemetry Host-Initiated in Supported Log Pages (Base 2.1 §5.1.12.1.8.1, Figure 215). */
export const TelemetryHostLidsp = word32(
  'Telemetry Host-Initiated LIDSP',
  { doc: 'Support of Telemetry Host-Initiated', spec: 'Base 2.1 §5.1.12.1.8.1' },
  { MCDAS: bit(0, 'Maximum Created Data Area Support') },
)

/** LIDSP of the Persistent Event Log in Supported Log Pages (Base 2.1 §5.1.12.1.14.1, Figure 228). */
export const PersistentEventLidsp = word32(
  'Persistent Event Log LIDSP',
  { doc: 'Support of the Persistent Event Log', spec: 'Base 2.1 §5.1.12.1.14.1' },
  { ECRH: bit(0, 'Establish Context and Read 512 Bytes of Header Supported') },
)

/** Support of one log page (Base 2.1 §5.1.12.1.1, Figure 204). */
export const LogPageSupport = word32(
  'LID Supported and Effects',
  { doc: 'Support of one log page', spec: 'Base 2.1 §5.1.12.1.1' },
  {
    LSUPP: bit(0, 'LID Supported'),
    IOS: bit(1, 'Index Offset Supported'),
    LIDSP: bits(31, 16, 'LID Specific Parameter'),
  },
)

/** Supported Log Pages (LID 00h; Base 2.1 §5.1.12.1.1, Figure 203): the index in LIDS is the log page identifier. */
export const SupportedLogPages = struct(
  'Supported Log Pages',
  { bytes: 1024, doc: 'Supported log pages (LID 00h)', spec: 'Base 2.1 §5.1.12.1.1' },
  { LIDS: u32Array(0, 256, 'Log Page Identifier Supported, by LID', LogPageSupport.fields) },
)
