/**
 * Whose commands may end with a status: `any` command's, the `admin` queue's, those of every I/O command set (`io`) or
 * of the ones that are named, or those of NVMe over `fabrics`.
 */
export type StatusScope = 'any' | 'admin' | 'io' | 'nvm' | 'zns' | 'kv' | 'fabrics'

/**
 * What sending the same command once more can do, as the status's definition has it:
 * - `never`: what was asked for is wrong, or not there; it fails again until the host, or somebody else, changes something.
 * - `same`: it was hit by something that passes; the same controller may carry it out at once.
 * - `later`: the controller is not ready for it, or short of something; the same controller may carry it out in a while.
 * - `other-path`: it is between this controller and the namespace, or the host; another controller may carry it out.
 */
export type Retry = 'never' | 'same' | 'later' | 'other-path'

/** A Status Code Type and Status Code with the name that the spec gives the pair, who returns it, and what a retry does. */
export interface StatusCode {
  readonly sct: number
  readonly sc: number
  readonly name: string
  readonly from: readonly StatusScope[]
  readonly retry: Retry
}

/** Rows of statuses, by their names. */
export type StatusTable = Readonly<Record<string, StatusCode>>

/** The Status field of a completion queue entry, or as much of it as is known. */
export interface Status {
  readonly sct: number
  readonly sc: number
  /** Do Not Retry. */
  readonly dnr: boolean
  /** More: the Error Information log page says more. */
  readonly more?: boolean
  /** Command Retry Delay: 1 to 3 for CRDT1 to CRDT3. Reserved unless the host set ACRE in Host Behavior Support. */
  readonly crd?: number
}

type Row = (sc: number, name: string, retry?: Retry, from?: readonly StatusScope[]) => StatusCode

const row =
  (sct: number, usualRetry: Retry, usualFrom: readonly StatusScope[]): Row =>
  (sc, name, retry = usualRetry, from = usualFrom) =>
    Object.freeze({ sct, sc, name, from, retry })

const any = ['any'] as const
const io = ['io'] as const
const nvm = ['nvm'] as const
const zns = ['zns'] as const
const nvmZns = ['nvm', 'zns'] as const
const kv = ['kv'] as const

const generic = row(0, 'never', any)
const specific = row(1, 'never', ['admin'])
const media = row(2, 'never', any)
const path = row(3, 'other-path', any)

/**
 * The statuses that Base 2.1 names (§4.2.3), by their names in upper case: of all commands but those of Fabrics.
 * Which command set may return one is what the figures' last column says, and where there is none, which half of the
 * codes it is from: 00h to 7Fh are the Admin command set's, 80h to BFh the I/O command sets'.
 */
export const STATUS = Object.freeze({
  // Generic Command Status (SCT 0h), Base 2.1 Figure 102
  SUCCESS: generic(0x00, 'Successful Completion'),
  INVALID_COMMAND_OPCODE: generic(0x01, 'Invalid Command Opcode'),
  INVALID_FIELD_IN_COMMAND: generic(0x02, 'Invalid Field in Command'),
  COMMAND_ID_CONFLICT: generic(0x03, 'Command ID Conflict'),
  DATA_TRANSFER_ERROR: generic(0x04, 'Data Transfer Error', 'same'),
  COMMANDS_ABORTED_DUE_TO_POWER_LOSS_NOTIFICATION: generic(
    0x05,
    'Commands Aborted due to Power Loss Notification',
    'later',
  ),
  INTERNAL_ERROR: generic(0x06, 'Internal Error', 'same'),
  COMMAND_ABORT_REQUESTED: generic(0x07, 'Command Abort Requested', 'same'),
  COMMAND_ABORTED_DUE_TO_SQ_DELETION: generic(0x08, 'Command Aborted due to SQ Deletion', 'same'),
  COMMAND_ABORTED_DUE_TO_FAILED_FUSED_COMMAND: generic(0x09, 'Command Aborted due to Failed Fused Command', 'same'),
  COMMAND_ABORTED_DUE_TO_MISSING_FUSED_COMMAND: generic(0x0a, 'Command Aborted due to Missing Fused Command', 'same'),
  INVALID_NAMESPACE_OR_FORMAT: generic(0x0b, 'Invalid Namespace or Format'),
  COMMAND_SEQUENCE_ERROR: generic(0x0c, 'Command Sequence Error'),
  INVALID_SGL_SEGMENT_DESCRIPTOR: generic(0x0d, 'Invalid SGL Segment Descriptor'),
  INVALID_NUMBER_OF_SGL_DESCRIPTORS: generic(0x0e, 'Invalid Number of SGL Descriptors'),
  DATA_SGL_LENGTH_INVALID: generic(0x0f, 'Data SGL Length Invalid'),
  METADATA_SGL_LENGTH_INVALID: generic(0x10, 'Metadata SGL Length Invalid'),
  SGL_DESCRIPTOR_TYPE_INVALID: generic(0x11, 'SGL Descriptor Type Invalid'),
  INVALID_USE_OF_CONTROLLER_MEMORY_BUFFER: generic(0x12, 'Invalid Use of Controller Memory Buffer'),
  PRP_OFFSET_INVALID: generic(0x13, 'PRP Offset Invalid'),
  ATOMIC_WRITE_UNIT_EXCEEDED: generic(0x14, 'Atomic Write Unit Exceeded', 'never', nvmZns),
  OPERATION_DENIED: generic(0x15, 'Operation Denied'),
  SGL_OFFSET_INVALID: generic(0x16, 'SGL Offset Invalid'),
  HOST_IDENTIFIER_INCONSISTENT_FORMAT: generic(0x18, 'Host Identifier Inconsistent Format'),
  KEEP_ALIVE_TIMER_EXPIRED: generic(0x19, 'Keep Alive Timer Expired'),
  KEEP_ALIVE_TIMEOUT_INVALID: generic(0x1a, 'Keep Alive Timeout Invalid'),
  COMMAND_ABORTED_DUE_TO_PREEMPT_AND_ABORT: generic(0x1b, 'Command Aborted due to Preempt and Abort', 'same'),
  SANITIZE_FAILED: generic(0x1c, 'Sanitize Failed'),
  SANITIZE_IN_PROGRESS: generic(0x1d, 'Sanitize In Progress', 'later'),
  SGL_DATA_BLOCK_GRANULARITY_INVALID: generic(0x1e, 'SGL Data Block Granularity Invalid', 'never', nvmZns),
  COMMAND_NOT_SUPPORTED_FOR_QUEUE_IN_CMB: generic(0x1f, 'Command Not Supported for Queue in CMB'),
  NAMESPACE_IS_WRITE_PROTECTED: generic(0x20, 'Namespace is Write Protected'),
  COMMAND_INTERRUPTED: generic(0x21, 'Command Interrupted', 'same'),
  TRANSIENT_TRANSPORT_ERROR: generic(0x22, 'Transient Transport Error', 'same'),
  COMMAND_PROHIBITED_BY_COMMAND_AND_FEATURE_LOCKDOWN: generic(
    0x23,
    'Command Prohibited by Command and Feature Lockdown',
  ),
  ADMIN_COMMAND_MEDIA_NOT_READY: generic(0x24, 'Admin Command Media Not Ready', 'later'),
  INVALID_KEY_TAG: generic(0x25, 'Invalid Key Tag'),
  HOST_DISPERSED_NAMESPACE_SUPPORT_NOT_ENABLED: generic(0x26, 'Host Dispersed Namespace Support Not Enabled'),
  HOST_IDENTIFIER_NOT_INITIALIZED: generic(0x27, 'Host Identifier Not Initialized'),
  INCORRECT_KEY: generic(0x28, 'Incorrect Key'),
  FDP_DISABLED: generic(0x29, 'FDP Disabled'),
  INVALID_PLACEMENT_HANDLE_LIST: generic(0x2a, 'Invalid Placement Handle List'),
  LBA_OUT_OF_RANGE: generic(0x80, 'LBA Out of Range', 'never', nvmZns),
  CAPACITY_EXCEEDED: generic(0x81, 'Capacity Exceeded'),
  NAMESPACE_NOT_READY: generic(0x82, 'Namespace Not Ready', 'later'),
  RESERVATION_CONFLICT: generic(0x83, 'Reservation Conflict'),
  FORMAT_IN_PROGRESS: generic(0x84, 'Format In Progress', 'later', nvmZns),
  INVALID_VALUE_SIZE: generic(0x85, 'Invalid Value Size', 'never', kv),
  INVALID_KEY_SIZE: generic(0x86, 'Invalid Key Size', 'never', kv),
  KV_KEY_DOES_NOT_EXIST: generic(0x87, 'KV Key Does Not Exist', 'never', kv),
  UNRECOVERED_ERROR: generic(0x88, 'Unrecovered Error', 'never', kv),
  KEY_EXISTS: generic(0x89, 'Key Exists', 'never', kv),

  // Command Specific Status (SCT 1h), Base 2.1 Figures 103 and 104
  COMPLETION_QUEUE_INVALID: specific(0x00, 'Completion Queue Invalid'),
  INVALID_QUEUE_IDENTIFIER: specific(0x01, 'Invalid Queue Identifier'),
  INVALID_QUEUE_SIZE: specific(0x02, 'Invalid Queue Size'),
  ABORT_COMMAND_LIMIT_EXCEEDED: specific(0x03, 'Abort Command Limit Exceeded', 'later'),
  ASYNCHRONOUS_EVENT_REQUEST_LIMIT_EXCEEDED: specific(0x05, 'Asynchronous Event Request Limit Exceeded', 'later'),
  INVALID_FIRMWARE_SLOT: specific(0x06, 'Invalid Firmware Slot'),
  INVALID_FIRMWARE_IMAGE: specific(0x07, 'Invalid Firmware Image'),
  INVALID_INTERRUPT_VECTOR: specific(0x08, 'Invalid Interrupt Vector'),
  INVALID_LOG_PAGE: specific(0x09, 'Invalid Log Page'),
  INVALID_FORMAT: specific(0x0a, 'Invalid Format'),
  FIRMWARE_ACTIVATION_REQUIRES_CONVENTIONAL_RESET: specific(0x0b, 'Firmware Activation Requires Conventional Reset'),
  INVALID_QUEUE_DELETION: specific(0x0c, 'Invalid Queue Deletion'),
  FEATURE_IDENTIFIER_NOT_SAVEABLE: specific(0x0d, 'Feature Identifier Not Saveable'),
  FEATURE_NOT_CHANGEABLE: specific(0x0e, 'Feature Not Changeable'),
  FEATURE_NOT_NAMESPACE_SPECIFIC: specific(0x0f, 'Feature Not Namespace Specific'),
  FIRMWARE_ACTIVATION_REQUIRES_NVM_SUBSYSTEM_RESET: specific(0x10, 'Firmware Activation Requires NVM Subsystem Reset'),
  FIRMWARE_ACTIVATION_REQUIRES_CONTROLLER_LEVEL_RESET: specific(
    0x11,
    'Firmware Activation Requires Controller Level Reset',
  ),
  FIRMWARE_ACTIVATION_REQUIRES_MAXIMUM_TIME_VIOLATION: specific(
    0x12,
    'Firmware Activation Requires Maximum Time Violation',
  ),
  FIRMWARE_ACTIVATION_PROHIBITED: specific(0x13, 'Firmware Activation Prohibited'),
  OVERLAPPING_RANGE: specific(0x14, 'Overlapping Range'),
  NAMESPACE_INSUFFICIENT_CAPACITY: specific(0x15, 'Namespace Insufficient Capacity'),
  NAMESPACE_IDENTIFIER_UNAVAILABLE: specific(0x16, 'Namespace Identifier Unavailable'),
  NAMESPACE_ALREADY_ATTACHED: specific(0x18, 'Namespace Already Attached'),
  NAMESPACE_IS_PRIVATE: specific(0x19, 'Namespace Is Private'),
  NAMESPACE_NOT_ATTACHED: specific(0x1a, 'Namespace Not Attached'),
  THIN_PROVISIONING_NOT_SUPPORTED: specific(0x1b, 'Thin Provisioning Not Supported'),
  CONTROLLER_LIST_INVALID: specific(0x1c, 'Controller List Invalid'),
  DEVICE_SELF_TEST_IN_PROGRESS: specific(0x1d, 'Device Self-test In Progress', 'later'),
  BOOT_PARTITION_WRITE_PROHIBITED: specific(0x1e, 'Boot Partition Write Prohibited'),
  INVALID_CONTROLLER_IDENTIFIER: specific(0x1f, 'Invalid Controller Identifier'),
  INVALID_SECONDARY_CONTROLLER_STATE: specific(0x20, 'Invalid Secondary Controller State'),
  INVALID_NUMBER_OF_CONTROLLER_RESOURCES: specific(0x21, 'Invalid Number of Controller Resources'),
  INVALID_RESOURCE_IDENTIFIER: specific(0x22, 'Invalid Resource Identifier'),
  SANITIZE_PROHIBITED_WHILE_PERSISTENT_MEMORY_REGION_IS_ENABLED: specific(
    0x23,
    'Sanitize Prohibited While Persistent Memory Region is Enabled',
  ),
  ANA_GROUP_IDENTIFIER_INVALID: specific(0x24, 'ANA Group Identifier Invalid'),
  ANA_ATTACH_FAILED: specific(0x25, 'ANA Attach Failed'),
  INSUFFICIENT_CAPACITY: specific(0x26, 'Insufficient Capacity'),
  NAMESPACE_ATTACHMENT_LIMIT_EXCEEDED: specific(0x27, 'Namespace Attachment Limit Exceeded'),
  PROHIBITION_OF_COMMAND_EXECUTION_NOT_SUPPORTED: specific(0x28, 'Prohibition of Command Execution Not Supported'),
  I_O_COMMAND_SET_NOT_SUPPORTED: specific(0x29, 'I/O Command Set Not Supported'),
  I_O_COMMAND_SET_NOT_ENABLED: specific(0x2a, 'I/O Command Set Not Enabled'),
  I_O_COMMAND_SET_COMBINATION_REJECTED: specific(0x2b, 'I/O Command Set Combination Rejected'),
  INVALID_I_O_COMMAND_SET: specific(0x2c, 'Invalid I/O Command Set'),
  IDENTIFIER_UNAVAILABLE: specific(0x2d, 'Identifier Unavailable'),
  NAMESPACE_IS_DISPERSED: specific(0x2e, 'Namespace Is Dispersed', 'never', io),
  INVALID_DISCOVERY_INFORMATION: specific(0x2f, 'Invalid Discovery Information'),
  ZONING_DATA_STRUCTURE_LOCKED: specific(0x30, 'Zoning Data Structure Locked', 'later'),
  ZONING_DATA_STRUCTURE_NOT_FOUND: specific(0x31, 'Zoning Data Structure Not Found'),
  INSUFFICIENT_DISCOVERY_RESOURCES: specific(0x32, 'Insufficient Discovery Resources'),
  REQUESTED_FUNCTION_DISABLED: specific(0x33, 'Requested Function Disabled'),
  ZONEGROUP_ORIGINATOR_INVALID: specific(0x34, 'ZoneGroup Originator Invalid'),
  INVALID_HOST: specific(0x35, 'Invalid Host'),
  INVALID_NVM_SUBSYSTEM: specific(0x36, 'Invalid NVM Subsystem'),
  INVALID_CONTROLLER_DATA_QUEUE: specific(0x37, 'Invalid Controller Data Queue'),
  NOT_ENOUGH_RESOURCES: specific(0x38, 'Not Enough Resources', 'later'),
  CONTROLLER_SUSPENDED: specific(0x39, 'Controller Suspended', 'later'),
  CONTROLLER_NOT_SUSPENDED: specific(0x3a, 'Controller Not Suspended'),
  CONTROLLER_DATA_QUEUE_FULL: specific(0x3b, 'Controller Data Queue Full', 'later'),
  CONFLICTING_ATTRIBUTES: specific(0x80, 'Conflicting Attributes', 'never', io),
  INVALID_PROTECTION_INFORMATION: specific(0x81, 'Invalid Protection Information', 'never', io),
  ATTEMPTED_WRITE_TO_READ_ONLY_RANGE: specific(0x82, 'Attempted Write to Read Only Range', 'never', io),
  COMMAND_SIZE_LIMIT_EXCEEDED: specific(0x83, 'Command Size Limit Exceeded', 'never', io),
  INVALID_COMMAND_ID: specific(0x84, 'Invalid Command ID', 'never', io),
  INCOMPATIBLE_NAMESPACE_OR_FORMAT: specific(0x85, 'Incompatible Namespace or Format', 'never', io),
  FAST_COPY_NOT_POSSIBLE: specific(0x86, 'Fast Copy Not Possible', 'never', io),
  OVERLAPPING_I_O_RANGE: specific(0x87, 'Overlapping I/O Range', 'never', io),
  NAMESPACE_NOT_REACHABLE: specific(0x88, 'Namespace Not Reachable', 'never', io),
  INSUFFICIENT_RESOURCES: specific(0x89, 'Insufficient Resources', 'later', io),
  INSUFFICIENT_PROGRAM_RESOURCES: specific(0x8a, 'Insufficient Program Resources', 'later', io),
  INVALID_MEMORY_NAMESPACE: specific(0x8b, 'Invalid Memory Namespace', 'never', io),
  INVALID_MEMORY_RANGE_SET: specific(0x8c, 'Invalid Memory Range Set', 'never', io),
  INVALID_MEMORY_RANGE_SET_IDENTIFIER: specific(0x8d, 'Invalid Memory Range Set Identifier', 'never', io),
  INVALID_PROGRAM_DATA: specific(0x8e, 'Invalid Program Data', 'never', io),
  INVALID_PROGRAM_INDEX: specific(0x8f, 'Invalid Program Index', 'never', io),
  INVALID_PROGRAM_TYPE: specific(0x90, 'Invalid Program Type', 'never', io),
  MAXIMUM_MEMORY_RANGES_EXCEEDED: specific(0x91, 'Maximum Memory Ranges Exceeded', 'never', io),
  MAXIMUM_MEMORY_RANGE_SETS_EXCEEDED: specific(0x92, 'Maximum Memory Range Sets Exceeded', 'never', io),
  MAXIMUM_PROGRAMS_ACTIVATED: specific(0x93, 'Maximum Programs Activated', 'later', io),
  MAXIMUM_PROGRAM_BYTES_EXCEEDED: specific(0x94, 'Maximum Program Bytes Exceeded', 'never', io),
  MEMORY_RANGE_SET_IN_USE: specific(0x95, 'Memory Range Set In Use', 'later', io),
  NO_PROGRAM: specific(0x96, 'No Program', 'never', io),
  OVERLAPPING_MEMORY_RANGES: specific(0x97, 'Overlapping Memory Ranges', 'never', io),
  // From here to 9Ch in Base 2.2 alone: Base 2.1's page could not be read
  PROGRAM_NOT_ACTIVATED: specific(0x98, 'Program Not Activated', 'never', io),
  PROGRAM_IN_USE: specific(0x99, 'Program In Use', 'later', io),
  PROGRAM_INDEX_NOT_DOWNLOADABLE: specific(0x9a, 'Program Index Not Downloadable', 'never', io),
  PROGRAM_TOO_BIG: specific(0x9b, 'Program Too Big', 'never', io),
  SUCCESSFUL_MEDIA_VERIFICATION_READ: specific(0x9c, 'Successful Media Verification Read', 'never', io),
  // libnvme 1.3 enum nvme_status_field; the Base Specification leaves both to the ZNS Command Set
  INVALID_ZONE_OPERATION_REQUEST: specific(0xb6, 'Invalid Zone Operation Request', 'never', zns),
  ZRWA_RESOURCES_UNAVAILABLE: specific(0xb7, 'ZRWA Resources Unavailable', 'later', zns),
  ZONED_BOUNDARY_ERROR: specific(0xb8, 'Zoned Boundary Error', 'never', zns),
  ZONE_IS_FULL: specific(0xb9, 'Zone Is Full', 'never', zns),
  ZONE_IS_READ_ONLY: specific(0xba, 'Zone Is Read Only', 'never', zns),
  ZONE_IS_OFFLINE: specific(0xbb, 'Zone Is Offline', 'never', zns),
  ZONE_INVALID_WRITE: specific(0xbc, 'Zone Invalid Write', 'never', zns),
  TOO_MANY_ACTIVE_ZONES: specific(0xbd, 'Too Many Active Zones', 'later', zns),
  TOO_MANY_OPEN_ZONES: specific(0xbe, 'Too Many Open Zones', 'later', zns),
  INVALID_ZONE_STATE_TRANSITION: specific(0xbf, 'Invalid Zone State Transition', 'never', zns),

  // Media and Data Integrity Errors (SCT 2h), Base 2.1 Figure 106
  WRITE_FAULT: media(0x80, 'Write Fault', 'same'),
  UNRECOVERED_READ_ERROR: media(0x81, 'Unrecovered Read Error', 'same'),
  END_TO_END_GUARD_CHECK_ERROR: media(0x82, 'End-to-end Guard Check Error'),
  END_TO_END_APPLICATION_TAG_CHECK_ERROR: media(0x83, 'End-to-end Application Tag Check Error'),
  END_TO_END_REFERENCE_TAG_CHECK_ERROR: media(0x84, 'End-to-end Reference Tag Check Error'),
  COMPARE_FAILURE: media(0x85, 'Compare Failure', 'never', nvm),
  ACCESS_DENIED: media(0x86, 'Access Denied'),
  DEALLOCATED_OR_UNWRITTEN_LOGICAL_BLOCK: media(0x87, 'Deallocated or Unwritten Logical Block', 'never', nvm),
  END_TO_END_STORAGE_TAG_CHECK_ERROR: media(0x88, 'End-to-End Storage Tag Check Error'),

  // Path Related Status (SCT 3h), Base 2.1 Figure 107
  INTERNAL_PATH_ERROR: path(0x00, 'Internal Path Error'),
  ASYMMETRIC_ACCESS_PERSISTENT_LOSS: path(0x01, 'Asymmetric Access Persistent Loss'),
  ASYMMETRIC_ACCESS_INACCESSIBLE: path(0x02, 'Asymmetric Access Inaccessible'),
  ASYMMETRIC_ACCESS_TRANSITION: path(0x03, 'Asymmetric Access Transition', 'later'),
  CONTROLLER_PATHING_ERROR: path(0x60, 'Controller Pathing Error'),
  HOST_PATHING_ERROR: path(0x70, 'Host Pathing Error'),
  COMMAND_ABORTED_BY_HOST: path(0x71, 'Command Aborted By Host'),
})

const byCode = new Map(Object.values(STATUS).map((code) => [keyOf(code.sct, code.sc), code]))

const typeNames = [
  'Generic Command Status',
  'Command Specific Status',
  'Media and Data Integrity Error',
  'Path Related Status',
]

/**
 * The row of a status; undefined for one that the spec does not name.
 * @param own Rows to be looked at first: FABRICS_STATUS where the command was a Fabrics command.
 */
export function statusOf(sct: number, sc: number, own: StatusTable = {}): StatusCode | undefined {
  return Object.values(own).find((code) => code.sct === sct && code.sc === sc) ?? byCode.get(keyOf(sct, sc))
}

/**
 * The spec's name of a status; of one that it does not name, its type and number.
 * @param own Rows to be looked at first: FABRICS_STATUS where the command was a Fabrics command.
 */
export function statusName(sct: number, sc: number, own?: StatusTable): string {
  const type = typeNames[sct] ?? (sct === 7 ? 'Vendor Specific Status' : `Reserved Status Code Type ${sct}h`)
  return statusOf(sct, sc, own)?.name ?? `${type} ${hex(sc)}h`
}

/** `LBA Out of Range (SCT 0h SC 80h, DNR)`: what every message about a failed command begins with. */
export function formatStatus(status: Status, own?: StatusTable): string {
  const flags = `${status.dnr ? ', DNR' : ''}${status.more ? ', M' : ''}`
  return `${statusName(status.sct, status.sc, own)} (SCT ${status.sct}h SC ${hex(status.sc)}h${flags})`
}

/**
 * How the command may be sent once more; undefined where it may not. DNR always wins. A controller that gives a Command
 * Retry Delay wants the command again, after that delay: hand `crd` over only if ACRE is set, as it is reserved
 * otherwise. Of a status that the spec does not name, only these bits are known. Whether the command may be executed
 * twice is the caller's to know: one that failed may have been carried out in part.
 * @param own Rows to be looked at first: FABRICS_STATUS where the command was a Fabrics command.
 */
export function mayRetry(status: Status, own?: StatusTable): Exclude<Retry, 'never'> | undefined {
  const { sct, sc, dnr, crd = 0 } = status
  if (dnr || (sct === 0 && sc === 0)) return undefined
  const retry = statusOf(sct, sc, own)?.retry ?? (sct === 3 ? 'other-path' : 'same')
  if (crd !== 0 && retry !== 'other-path') return 'later'
  return retry === 'never' ? undefined : retry
}

function keyOf(sct: number, sc: number): number {
  return sct * 256 + sc
}

function hex(value: number): string {
  return value.toString(16).toUpperCase().padStart(2, '0')
}
