/** A Status Code Type and Status Code with the name that the spec gives the pair. */
export interface StatusCode {
  readonly sct: number
  readonly sc: number
  readonly name: string
}

const status = (sct: number, sc: number, name: string): StatusCode => Object.freeze({ sct, sc, name })

/**
 * The statuses that Base 2.1 names (Figures 102, 103, 104, 106, 107), by their names in upper case; without those of
 * computational programs (SCT 1h, SC 8Ah to 9Bh).
 */
export const STATUS = Object.freeze({
  // Generic Command Status (SCT 0h), Base 2.1 §4.2.3.1
  SUCCESS: status(0, 0x00, 'Successful Completion'),
  INVALID_COMMAND_OPCODE: status(0, 0x01, 'Invalid Command Opcode'),
  INVALID_FIELD_IN_COMMAND: status(0, 0x02, 'Invalid Field in Command'),
  COMMAND_ID_CONFLICT: status(0, 0x03, 'Command ID Conflict'),
  DATA_TRANSFER_ERROR: status(0, 0x04, 'Data Transfer Error'),
  COMMANDS_ABORTED_DUE_TO_POWER_LOSS_NOTIFICATION: status(0, 0x05, 'Commands Aborted due to Power Loss Notification'),
  INTERNAL_ERROR: status(0, 0x06, 'Internal Error'),
  COMMAND_ABORT_REQUESTED: status(0, 0x07, 'Command Abort Requested'),
  COMMAND_ABORTED_DUE_TO_SQ_DELETION: status(0, 0x08, 'Command Aborted due to SQ Deletion'),
  COMMAND_ABORTED_DUE_TO_FAILED_FUSED_COMMAND: status(0, 0x09, 'Command Aborted due to Failed Fused Command'),
  COMMAND_ABORTED_DUE_TO_MISSING_FUSED_COMMAND: status(0, 0x0a, 'Command Aborted due to Missing Fused Command'),
  INVALID_NAMESPACE_OR_FORMAT: status(0, 0x0b, 'Invalid Namespace or Format'),
  COMMAND_SEQUENCE_ERROR: status(0, 0x0c, 'Command Sequence Error'),
  INVALID_SGL_SEGMENT_DESCRIPTOR: status(0, 0x0d, 'Invalid SGL Segment Descriptor'),
  INVALID_NUMBER_OF_SGL_DESCRIPTORS: status(0, 0x0e, 'Invalid Number of SGL Descriptors'),
  DATA_SGL_LENGTH_INVALID: status(0, 0x0f, 'Data SGL Length Invalid'),
  METADATA_SGL_LENGTH_INVALID: status(0, 0x10, 'Metadata SGL Length Invalid'),
  SGL_DESCRIPTOR_TYPE_INVALID: status(0, 0x11, 'SGL Descriptor Type Invalid'),
  INVALID_USE_OF_CONTROLLER_MEMORY_BUFFER: status(0, 0x12, 'Invalid Use of Controller Memory Buffer'),
  PRP_OFFSET_INVALID: status(0, 0x13, 'PRP Offset Invalid'),
  ATOMIC_WRITE_UNIT_EXCEEDED: status(0, 0x14, 'Atomic Write Unit Exceeded'),
  OPERATION_DENIED: status(0, 0x15, 'Operation Denied'),
  SGL_OFFSET_INVALID: status(0, 0x16, 'SGL Offset Invalid'),
  HOST_IDENTIFIER_INCONSISTENT_FORMAT: status(0, 0x18, 'Host Identifier Inconsistent Format'),
  KEEP_ALIVE_TIMER_EXPIRED: status(0, 0x19, 'Keep Alive Timer Expired'),
  KEEP_ALIVE_TIMEOUT_INVALID: status(0, 0x1a, 'Keep Alive Timeout Invalid'),
  COMMAND_ABORTED_DUE_TO_PREEMPT_AND_ABORT: status(0, 0x1b, 'Command Aborted due to Preempt and Abort'),
  SANITIZE_FAILED: status(0, 0x1c, 'Sanitize Failed'),
  SANITIZE_IN_PROGRESS: status(0, 0x1d, 'Sanitize In Progress'),
  SGL_DATA_BLOCK_GRANULARITY_INVALID: status(0, 0x1e, 'SGL Data Block Granularity Invalid'),
  COMMAND_NOT_SUPPORTED_FOR_QUEUE_IN_CMB: status(0, 0x1f, 'Command Not Supported for Queue in CMB'),
  NAMESPACE_IS_WRITE_PROTECTED: status(0, 0x20, 'Namespace is Write Protected'),
  COMMAND_INTERRUPTED: status(0, 0x21, 'Command Interrupted'),
  TRANSIENT_TRANSPORT_ERROR: status(0, 0x22, 'Transient Transport Error'),
  COMMAND_PROHIBITED_BY_COMMAND_AND_FEATURE_LOCKDOWN: status(
    0,
    0x23,
    'Command Prohibited by Command and Feature Lockdown',
  ),
  ADMIN_COMMAND_MEDIA_NOT_READY: status(0, 0x24, 'Admin Command Media Not Ready'),
  INVALID_KEY_TAG: status(0, 0x25, 'Invalid Key Tag'),
  HOST_DISPERSED_NAMESPACE_SUPPORT_NOT_ENABLED: status(0, 0x26, 'Host Dispersed Namespace Support Not Enabled'),
  HOST_IDENTIFIER_NOT_INITIALIZED: status(0, 0x27, 'Host Identifier Not Initialized'),
  INCORRECT_KEY: status(0, 0x28, 'Incorrect Key'),
  FDP_DISABLED: status(0, 0x29, 'FDP Disabled'),
  INVALID_PLACEMENT_HANDLE_LIST: status(0, 0x2a, 'Invalid Placement Handle List'),
  LBA_OUT_OF_RANGE: status(0, 0x80, 'LBA Out of Range'),
  CAPACITY_EXCEEDED: status(0, 0x81, 'Capacity Exceeded'),
  NAMESPACE_NOT_READY: status(0, 0x82, 'Namespace Not Ready'),
  RESERVATION_CONFLICT: status(0, 0x83, 'Reservation Conflict'),
  FORMAT_IN_PROGRESS: status(0, 0x84, 'Format In Progress'),
  INVALID_VALUE_SIZE: status(0, 0x85, 'Invalid Value Size'),
  INVALID_KEY_SIZE: status(0, 0x86, 'Invalid Key Size'),
  KV_KEY_DOES_NOT_EXIST: status(0, 0x87, 'KV Key Does Not Exist'),
  UNRECOVERED_ERROR: status(0, 0x88, 'Unrecovered Error'),
  KEY_EXISTS: status(0, 0x89, 'Key Exists'),

  // Command Specific Status (SCT 1h), Base 2.1 §4.2.3.2
  COMPLETION_QUEUE_INVALID: status(1, 0x00, 'Completion Queue Invalid'),
  INVALID_QUEUE_IDENTIFIER: status(1, 0x01, 'Invalid Queue Identifier'),
  INVALID_QUEUE_SIZE: status(1, 0x02, 'Invalid Queue Size'),
  ABORT_COMMAND_LIMIT_EXCEEDED: status(1, 0x03, 'Abort Command Limit Exceeded'),
  ASYNCHRONOUS_EVENT_REQUEST_LIMIT_EXCEEDED: status(1, 0x05, 'Asynchronous Event Request Limit Exceeded'),
  INVALID_FIRMWARE_SLOT: status(1, 0x06, 'Invalid Firmware Slot'),
  INVALID_FIRMWARE_IMAGE: status(1, 0x07, 'Invalid Firmware Image'),
  INVALID_INTERRUPT_VECTOR: status(1, 0x08, 'Invalid Interrupt Vector'),
  INVALID_LOG_PAGE: status(1, 0x09, 'Invalid Log Page'),
  INVALID_FORMAT: status(1, 0x0a, 'Invalid Format'),
  FIRMWARE_ACTIVATION_REQUIRES_CONVENTIONAL_RESET: status(1, 0x0b, 'Firmware Activation Requires Conventional Reset'),
  INVALID_QUEUE_DELETION: status(1, 0x0c, 'Invalid Queue Deletion'),
  FEATURE_IDENTIFIER_NOT_SAVEABLE: status(1, 0x0d, 'Feature Identifier Not Saveable'),
  FEATURE_NOT_CHANGEABLE: status(1, 0x0e, 'Feature Not Changeable'),
  FEATURE_NOT_NAMESPACE_SPECIFIC: status(1, 0x0f, 'Feature Not Namespace Specific'),
  FIRMWARE_ACTIVATION_REQUIRES_NVM_SUBSYSTEM_RESET: status(1, 0x10, 'Firmware Activation Requires NVM Subsystem Reset'),
  FIRMWARE_ACTIVATION_REQUIRES_CONTROLLER_LEVEL_RESET: status(
    1,
    0x11,
    'Firmware Activation Requires Controller Level Reset',
  ),
  FIRMWARE_ACTIVATION_REQUIRES_MAXIMUM_TIME_VIOLATION: status(
    1,
    0x12,
    'Firmware Activation Requires Maximum Time Violation',
  ),
  FIRMWARE_ACTIVATION_PROHIBITED: status(1, 0x13, 'Firmware Activation Prohibited'),
  OVERLAPPING_RANGE: status(1, 0x14, 'Overlapping Range'),
  NAMESPACE_INSUFFICIENT_CAPACITY: status(1, 0x15, 'Namespace Insufficient Capacity'),
  NAMESPACE_IDENTIFIER_UNAVAILABLE: status(1, 0x16, 'Namespace Identifier Unavailable'),
  NAMESPACE_ALREADY_ATTACHED: status(1, 0x18, 'Namespace Already Attached'),
  NAMESPACE_IS_PRIVATE: status(1, 0x19, 'Namespace Is Private'),
  NAMESPACE_NOT_ATTACHED: status(1, 0x1a, 'Namespace Not Attached'),
  THIN_PROVISIONING_NOT_SUPPORTED: status(1, 0x1b, 'Thin Provisioning Not Supported'),
  CONTROLLER_LIST_INVALID: status(1, 0x1c, 'Controller List Invalid'),
  DEVICE_SELF_TEST_IN_PROGRESS: status(1, 0x1d, 'Device Self-test In Progress'),
  BOOT_PARTITION_WRITE_PROHIBITED: status(1, 0x1e, 'Boot Partition Write Prohibited'),
  INVALID_CONTROLLER_IDENTIFIER: status(1, 0x1f, 'Invalid Controller Identifier'),
  INVALID_SECONDARY_CONTROLLER_STATE: status(1, 0x20, 'Invalid Secondary Controller State'),
  INVALID_NUMBER_OF_CONTROLLER_RESOURCES: status(1, 0x21, 'Invalid Number of Controller Resources'),
  INVALID_RESOURCE_IDENTIFIER: status(1, 0x22, 'Invalid Resource Identifier'),
  SANITIZE_PROHIBITED_WHILE_PERSISTENT_MEMORY_REGION_IS_ENABLED: status(
    1,
    0x23,
    'Sanitize Prohibited While Persistent Memory Region is Enabled',
  ),
  ANA_GROUP_IDENTIFIER_INVALID: status(1, 0x24, 'ANA Group Identifier Invalid'),
  ANA_ATTACH_FAILED: status(1, 0x25, 'ANA Attach Failed'),
  INSUFFICIENT_CAPACITY: status(1, 0x26, 'Insufficient Capacity'),
  NAMESPACE_ATTACHMENT_LIMIT_EXCEEDED: status(1, 0x27, 'Namespace Attachment Limit Exceeded'),
  PROHIBITION_OF_COMMAND_EXECUTION_NOT_SUPPORTED: status(1, 0x28, 'Prohibition of Command Execution Not Supported'),
  I_O_COMMAND_SET_NOT_SUPPORTED: status(1, 0x29, 'I/O Command Set Not Supported'),
  I_O_COMMAND_SET_NOT_ENABLED: status(1, 0x2a, 'I/O Command Set Not Enabled'),
  I_O_COMMAND_SET_COMBINATION_REJECTED: status(1, 0x2b, 'I/O Command Set Combination Rejected'),
  INVALID_I_O_COMMAND_SET: status(1, 0x2c, 'Invalid I/O Command Set'),
  IDENTIFIER_UNAVAILABLE: status(1, 0x2d, 'Identifier Unavailable'),
  NAMESPACE_IS_DISPERSED: status(1, 0x2e, 'Namespace Is Dispersed'),
  INVALID_DISCOVERY_INFORMATION: status(1, 0x2f, 'Invalid Discovery Information'),
  ZONING_DATA_STRUCTURE_LOCKED: status(1, 0x30, 'Zoning Data Structure Locked'),
  ZONING_DATA_STRUCTURE_NOT_FOUND: status(1, 0x31, 'Zoning Data Structure Not Found'),
  INSUFFICIENT_DISCOVERY_RESOURCES: status(1, 0x32, 'Insufficient Discovery Resources'),
  REQUESTED_FUNCTION_DISABLED: status(1, 0x33, 'Requested Function Disabled'),
  ZONEGROUP_ORIGINATOR_INVALID: status(1, 0x34, 'ZoneGroup Originator Invalid'),
  INVALID_HOST: status(1, 0x35, 'Invalid Host'),
  INVALID_NVM_SUBSYSTEM: status(1, 0x36, 'Invalid NVM Subsystem'),
  INVALID_CONTROLLER_DATA_QUEUE: status(1, 0x37, 'Invalid Controller Data Queue'),
  NOT_ENOUGH_RESOURCES: status(1, 0x38, 'Not Enough Resources'),
  CONTROLLER_SUSPENDED: status(1, 0x39, 'Controller Suspended'),
  CONTROLLER_NOT_SUSPENDED: status(1, 0x3a, 'Controller Not Suspended'),
  CONTROLLER_DATA_QUEUE_FULL: status(1, 0x3b, 'Controller Data Queue Full'),
  CONFLICTING_ATTRIBUTES: status(1, 0x80, 'Conflicting Attributes'),
  INVALID_PROTECTION_INFORMATION: status(1, 0x81, 'Invalid Protection Information'),
  ATTEMPTED_WRITE_TO_READ_ONLY_RANGE: status(1, 0x82, 'Attempted Write to Read Only Range'),
  COMMAND_SIZE_LIMIT_EXCEEDED: status(1, 0x83, 'Command Size Limit Exceeded'),
  INVALID_COMMAND_ID: status(1, 0x84, 'Invalid Command ID'),
  INCOMPATIBLE_NAMESPACE_OR_FORMAT: status(1, 0x85, 'Incompatible Namespace or Format'),
  FAST_COPY_NOT_POSSIBLE: status(1, 0x86, 'Fast Copy Not Possible'),
  OVERLAPPING_I_O_RANGE: status(1, 0x87, 'Overlapping I/O Range'),
  NAMESPACE_NOT_REACHABLE: status(1, 0x88, 'Namespace Not Reachable'),
  INSUFFICIENT_RESOURCES: status(1, 0x89, 'Insufficient Resources'),
  ZONED_BOUNDARY_ERROR: status(1, 0xb8, 'Zoned Boundary Error'),
  ZONE_IS_FULL: status(1, 0xb9, 'Zone Is Full'),
  ZONE_IS_READ_ONLY: status(1, 0xba, 'Zone Is Read Only'),
  ZONE_IS_OFFLINE: status(1, 0xbb, 'Zone Is Offline'),
  ZONE_INVALID_WRITE: status(1, 0xbc, 'Zone Invalid Write'),
  TOO_MANY_ACTIVE_ZONES: status(1, 0xbd, 'Too Many Active Zones'),
  TOO_MANY_OPEN_ZONES: status(1, 0xbe, 'Too Many Open Zones'),
  INVALID_ZONE_STATE_TRANSITION: status(1, 0xbf, 'Invalid Zone State Transition'),

  // Media and Data Integrity Errors (SCT 2h), Base 2.1 §4.2.3.3
  WRITE_FAULT: status(2, 0x80, 'Write Fault'),
  UNRECOVERED_READ_ERROR: status(2, 0x81, 'Unrecovered Read Error'),
  END_TO_END_GUARD_CHECK_ERROR: status(2, 0x82, 'End-to-end Guard Check Error'),
  END_TO_END_APPLICATION_TAG_CHECK_ERROR: status(2, 0x83, 'End-to-end Application Tag Check Error'),
  END_TO_END_REFERENCE_TAG_CHECK_ERROR: status(2, 0x84, 'End-to-end Reference Tag Check Error'),
  COMPARE_FAILURE: status(2, 0x85, 'Compare Failure'),
  ACCESS_DENIED: status(2, 0x86, 'Access Denied'),
  DEALLOCATED_OR_UNWRITTEN_LOGICAL_BLOCK: status(2, 0x87, 'Deallocated or Unwritten Logical Block'),
  END_TO_END_STORAGE_TAG_CHECK_ERROR: status(2, 0x88, 'End-to-End Storage Tag Check Error'),

  // Path Related Status (SCT 3h), Base 2.1 §4.2.3.4
  INTERNAL_PATH_ERROR: status(3, 0x00, 'Internal Path Error'),
  ASYMMETRIC_ACCESS_PERSISTENT_LOSS: status(3, 0x01, 'Asymmetric Access Persistent Loss'),
  ASYMMETRIC_ACCESS_INACCESSIBLE: status(3, 0x02, 'Asymmetric Access Inaccessible'),
  ASYMMETRIC_ACCESS_TRANSITION: status(3, 0x03, 'Asymmetric Access Transition'),
  CONTROLLER_PATHING_ERROR: status(3, 0x60, 'Controller Pathing Error'),
  HOST_PATHING_ERROR: status(3, 0x70, 'Host Pathing Error'),
  COMMAND_ABORTED_BY_HOST: status(3, 0x71, 'Command Aborted By Host'),
})

const byCode = new Map(Object.values(STATUS).map((code) => [keyOf(code.sct, code.sc), code]))

const typeNames = [
  'Generic Command Status',
  'Command Specific Status',
  'Media and Data Integrity Error',
  'Path Related Status',
]

/** The spec's name of a status; of one that it does not name, its type and number. */
export function statusName(sct: number, sc: number): string {
  const type = typeNames[sct] ?? (sct === 7 ? 'Vendor Specific Status' : `Reserved Status Code Type ${sct}h`)
  return byCode.get(keyOf(sct, sc))?.name ?? `${type} ${hex(sc)}h`
}

/** `LBA Out of Range (SCT 0h SC 80h, DNR)`: what every message about a failed command begins with. */
export function formatStatus(status: { sct: number; sc: number; dnr: boolean; more?: boolean }): string {
  const flags = `${status.dnr ? ', DNR' : ''}${status.more ? ', M' : ''}`
  return `${statusName(status.sct, status.sc)} (SCT ${status.sct}h SC ${hex(status.sc)}h${flags})`
}

function keyOf(sct: number, sc: number): number {
  return sct * 256 + sc
}

function hex(value: number): string {
  return value.toString(16).toUpperCase().padStart(2, '0')
}
