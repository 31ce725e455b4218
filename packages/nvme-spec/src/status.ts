import { checkInteger } from './layout/facts.js'

/**
 * Commands that may return a status: `any` command; `admin` commands; I/O commands of the command set `nvm`, `zns` or
 * `kv`, or of an unspecified one (`io`); `fabrics` commands.
 */
export type StatusScope = 'any' | 'admin' | 'io' | 'nvm' | 'zns' | 'kv' | 'fabrics'

/**
 * What a retry of the same command can achieve, as stated in the definition of the status; inferred from the definition
 * if it neither recommends nor rules out a retry.
 * - `never`: the request is invalid, or its object does not exist. It fails again until something changes.
 * - `same`: the cause is transient. The same controller may complete the command at once.
 * - `later`: the controller is not ready or lacks a resource. The same controller may complete the command after a
 *   while.
 * - `other-path`: the cause is between this controller and the namespace or host. Another controller may complete the
 *   command.
 */
export type Retry = 'never' | 'same' | 'later' | 'other-path'

/**
 * A Status Code Type and Status Code with the specification's name, the commands that return it, and the effect of a
 * retry.
 */
export interface StatusCode {
  readonly sct: number
  readonly sc: number
  readonly name: string
  /**
   * Command sets whose commands may return the status. The exact commands are in the column Commands Affected of Base
   * 2.1 Figure 103, NVM 1.2 Figure 18 and KV 1.0d Figure 4.
   */
  readonly returnedBy: readonly StatusScope[]
  readonly retry: Retry
}

/** Rows of statuses by name: `STATUS` and `FABRICS_STATUS` are such tables. */
export type StatusTable = Readonly<Record<string, StatusCode>>

/** The Status field of a completion queue entry, or the known part of it (Base 2.1 §4.2.3). */
export interface Status {
  /** Status Code Type, 0 to 7. */
  readonly sct: number
  /** Status Code, 0 to 255. */
  readonly sc: number
  /** Do Not Retry. */
  readonly dnr: boolean
  /** More: the Error Information log page has details. */
  readonly more?: boolean
  /** Command Retry Delay: 1 to 3 for CRDT1 to CRDT3. Reserved unless the host set ACRE in Host Behavior Support. */
  readonly crd?: number
}

/** Deviations of a row from the default of its type, or from the name derived from its key. */
type RowOptions = Partial<Pick<StatusCode, 'name' | 'returnedBy' | 'retry'>>

/** A row whose name may be derived from its key. */
type Row = Omit<StatusCode, 'name'> & { readonly name?: string }

/** Returns a constructor for rows of one Status Code Type, with default values of `returnedBy` and `retry`. */
export const statusRow =
  (sct: number, returnedBy: readonly StatusScope[], retry: Retry = 'never') =>
  (sc: number, options: RowOptions = {}): Row => ({ sct, sc, returnedBy, retry, ...options })

const wordsInCapitals = new Set('I/O ID SQ SGL PRP CMB FDP LBA KV NVM ANA ZRWA'.split(' '))
const wordsInSmall = new Set('OF TO DUE BY AND FOR THE WITH OR'.split(' '))

/**
 * Returns the rows with their names. Names are derived from the keys where possible: storing both would be a tenth of
 * what a browser loads with this table. `rows` is a function, so that a bundle without the table omits the rows.
 */
export function statusTable<T extends Readonly<Record<string, Row>>>(
  rows: () => T,
): Readonly<Record<keyof T, StatusCode>> {
  const words = (key: string) =>
    key
      .replace('I_O_', 'I/O_')
      .split('_')
      .map((word) => {
        if (wordsInCapitals.has(word)) return word
        return wordsInSmall.has(word) ? word.toLowerCase() : word.charAt(0) + word.slice(1).toLowerCase()
      })
  const named = Object.entries(rows()).map(([key, row]) => [key, Object.freeze({ name: words(key).join(' '), ...row })])
  return Object.freeze(Object.fromEntries(named)) as Readonly<Record<keyof T, StatusCode>>
}

const admin = ['admin'] as const
const nvmZns = ['nvm', 'zns'] as const
const kv = ['kv'] as const

const generic = /*#__PURE__*/ statusRow(0, ['any'])
const specific = /*#__PURE__*/ statusRow(1, admin)
const ofIo = /*#__PURE__*/ statusRow(1, ['io'])
const ofBlocks = /*#__PURE__*/ statusRow(1, nvmZns)
const ofZones = /*#__PURE__*/ statusRow(1, ['zns'])
const media = /*#__PURE__*/ statusRow(2, ['any'])
const path = /*#__PURE__*/ statusRow(3, ['any'], 'other-path')

/**
 * The statuses of Base 2.1 (§4.2.3), by name in upper case, for all commands except Fabrics. `returnedBy` follows the last
 * column of the figures, or the definition if it names commands. Otherwise, command specific statuses 00h to 7Fh belong
 * to Admin commands, and 80h to BFh to I/O commands.
 */
export const STATUS = /*#__PURE__*/ statusTable(() => ({
  // Generic Command Status (SCT 0h), Base 2.1 Figure 102
  SUCCESS: generic(0x00, { name: 'Successful Completion' }),
  INVALID_COMMAND_OPCODE: generic(0x01),
  INVALID_FIELD_IN_COMMAND: generic(0x02, { name: 'Invalid Field in Command' }),
  COMMAND_ID_CONFLICT: generic(0x03),
  DATA_TRANSFER_ERROR: generic(0x04, { retry: 'same' }),
  COMMANDS_ABORTED_DUE_TO_POWER_LOSS_NOTIFICATION: generic(0x05, { retry: 'later' }),
  INTERNAL_ERROR: generic(0x06, { retry: 'same' }),
  COMMAND_ABORT_REQUESTED: generic(0x07, { retry: 'same' }),
  COMMAND_ABORTED_DUE_TO_SQ_DELETION: generic(0x08, { retry: 'same' }),
  COMMAND_ABORTED_DUE_TO_FAILED_FUSED_COMMAND: generic(0x09, { retry: 'same' }),
  COMMAND_ABORTED_DUE_TO_MISSING_FUSED_COMMAND: generic(0x0a, { retry: 'same' }),
  INVALID_NAMESPACE_OR_FORMAT: generic(0x0b),
  COMMAND_SEQUENCE_ERROR: generic(0x0c),
  INVALID_SGL_SEGMENT_DESCRIPTOR: generic(0x0d),
  INVALID_NUMBER_OF_SGL_DESCRIPTORS: generic(0x0e),
  DATA_SGL_LENGTH_INVALID: generic(0x0f),
  METADATA_SGL_LENGTH_INVALID: generic(0x10),
  SGL_DESCRIPTOR_TYPE_INVALID: generic(0x11),
  INVALID_USE_OF_CONTROLLER_MEMORY_BUFFER: generic(0x12),
  PRP_OFFSET_INVALID: generic(0x13),
  ATOMIC_WRITE_UNIT_EXCEEDED: generic(0x14, { returnedBy: nvmZns }),
  OPERATION_DENIED: generic(0x15),
  SGL_OFFSET_INVALID: generic(0x16),
  HOST_IDENTIFIER_INCONSISTENT_FORMAT: generic(0x18),
  KEEP_ALIVE_TIMER_EXPIRED: generic(0x19),
  KEEP_ALIVE_TIMEOUT_INVALID: generic(0x1a),
  COMMAND_ABORTED_DUE_TO_PREEMPT_AND_ABORT: generic(0x1b, { retry: 'same' }),
  SANITIZE_FAILED: generic(0x1c),
  SANITIZE_IN_PROGRESS: generic(0x1d, { retry: 'later' }),
  SGL_DATA_BLOCK_GRANULARITY_INVALID: generic(0x1e, { returnedBy: nvmZns }),
  // Since NVMe 1.3 only for Sanitize (Base 2.2 Figure 102: that page of Base 2.1 could not be read)
  COMMAND_NOT_SUPPORTED_FOR_QUEUE_IN_CMB: generic(0x1f, {
    returnedBy: admin,
    name: 'Command Not Supported for Queue in CMB',
  }),
  NAMESPACE_IS_WRITE_PROTECTED: generic(0x20, { name: 'Namespace is Write Protected' }),
  COMMAND_INTERRUPTED: generic(0x21, { retry: 'same' }),
  TRANSIENT_TRANSPORT_ERROR: generic(0x22, { retry: 'same' }),
  COMMAND_PROHIBITED_BY_COMMAND_AND_FEATURE_LOCKDOWN: generic(0x23),
  ADMIN_COMMAND_MEDIA_NOT_READY: generic(0x24, { returnedBy: admin, retry: 'later' }),
  INVALID_KEY_TAG: generic(0x25),
  HOST_DISPERSED_NAMESPACE_SUPPORT_NOT_ENABLED: generic(0x26),
  HOST_IDENTIFIER_NOT_INITIALIZED: generic(0x27),
  INCORRECT_KEY: generic(0x28),
  FDP_DISABLED: generic(0x29),
  INVALID_PLACEMENT_HANDLE_LIST: generic(0x2a),
  LBA_OUT_OF_RANGE: generic(0x80, { returnedBy: nvmZns }),
  CAPACITY_EXCEEDED: generic(0x81),
  NAMESPACE_NOT_READY: generic(0x82, { retry: 'later' }),
  RESERVATION_CONFLICT: generic(0x83),
  // NVM and ZNS commands in Base 2.1; also all commands of KV 1.0d Figure 4
  FORMAT_IN_PROGRESS: generic(0x84, { returnedBy: ['nvm', 'zns', 'kv'], retry: 'later' }),
  INVALID_VALUE_SIZE: generic(0x85, { returnedBy: kv }),
  INVALID_KEY_SIZE: generic(0x86, { returnedBy: kv }),
  KV_KEY_DOES_NOT_EXIST: generic(0x87, { returnedBy: kv }),
  // For a Retrieve, "when reading from the medium" (KV 1.0d Figure 22): like Unrecovered Read Error for a Read
  UNRECOVERED_ERROR: generic(0x88, { returnedBy: kv, retry: 'same' }),
  KEY_EXISTS: generic(0x89, { returnedBy: kv }),

  // Command Specific Status (SCT 1h), Base 2.1 Figures 103 and 104
  COMPLETION_QUEUE_INVALID: specific(0x00),
  INVALID_QUEUE_IDENTIFIER: specific(0x01),
  INVALID_QUEUE_SIZE: specific(0x02),
  ABORT_COMMAND_LIMIT_EXCEEDED: specific(0x03, { retry: 'later' }),
  ASYNCHRONOUS_EVENT_REQUEST_LIMIT_EXCEEDED: specific(0x05, { retry: 'later' }),
  INVALID_FIRMWARE_SLOT: specific(0x06),
  INVALID_FIRMWARE_IMAGE: specific(0x07),
  INVALID_INTERRUPT_VECTOR: specific(0x08),
  INVALID_LOG_PAGE: specific(0x09),
  INVALID_FORMAT: specific(0x0a),
  FIRMWARE_ACTIVATION_REQUIRES_CONVENTIONAL_RESET: specific(0x0b),
  INVALID_QUEUE_DELETION: specific(0x0c),
  FEATURE_IDENTIFIER_NOT_SAVEABLE: specific(0x0d),
  FEATURE_NOT_CHANGEABLE: specific(0x0e),
  FEATURE_NOT_NAMESPACE_SPECIFIC: specific(0x0f),
  FIRMWARE_ACTIVATION_REQUIRES_NVM_SUBSYSTEM_RESET: specific(0x10),
  FIRMWARE_ACTIVATION_REQUIRES_CONTROLLER_LEVEL_RESET: specific(0x11),
  FIRMWARE_ACTIVATION_REQUIRES_MAXIMUM_TIME_VIOLATION: specific(0x12),
  FIRMWARE_ACTIVATION_PROHIBITED: specific(0x13),
  OVERLAPPING_RANGE: specific(0x14),
  NAMESPACE_INSUFFICIENT_CAPACITY: specific(0x15),
  NAMESPACE_IDENTIFIER_UNAVAILABLE: specific(0x16),
  NAMESPACE_ALREADY_ATTACHED: specific(0x18),
  NAMESPACE_IS_PRIVATE: specific(0x19),
  NAMESPACE_NOT_ATTACHED: specific(0x1a),
  THIN_PROVISIONING_NOT_SUPPORTED: specific(0x1b),
  CONTROLLER_LIST_INVALID: specific(0x1c),
  DEVICE_SELF_TEST_IN_PROGRESS: specific(0x1d, { name: 'Device Self-test In Progress', retry: 'later' }),
  BOOT_PARTITION_WRITE_PROHIBITED: specific(0x1e),
  INVALID_CONTROLLER_IDENTIFIER: specific(0x1f),
  INVALID_SECONDARY_CONTROLLER_STATE: specific(0x20),
  INVALID_NUMBER_OF_CONTROLLER_RESOURCES: specific(0x21),
  INVALID_RESOURCE_IDENTIFIER: specific(0x22),
  SANITIZE_PROHIBITED_WHILE_PERSISTENT_MEMORY_REGION_IS_ENABLED: specific(0x23, {
    name: 'Sanitize Prohibited While Persistent Memory Region is Enabled',
  }),
  ANA_GROUP_IDENTIFIER_INVALID: specific(0x24),
  ANA_ATTACH_FAILED: specific(0x25),
  INSUFFICIENT_CAPACITY: specific(0x26),
  NAMESPACE_ATTACHMENT_LIMIT_EXCEEDED: specific(0x27),
  PROHIBITION_OF_COMMAND_EXECUTION_NOT_SUPPORTED: specific(0x28),
  I_O_COMMAND_SET_NOT_SUPPORTED: specific(0x29),
  I_O_COMMAND_SET_NOT_ENABLED: specific(0x2a),
  I_O_COMMAND_SET_COMBINATION_REJECTED: specific(0x2b),
  INVALID_I_O_COMMAND_SET: specific(0x2c),
  IDENTIFIER_UNAVAILABLE: specific(0x2d),
  NAMESPACE_IS_DISPERSED: ofIo(0x2e),
  INVALID_DISCOVERY_INFORMATION: specific(0x2f),
  ZONING_DATA_STRUCTURE_LOCKED: specific(0x30, { retry: 'later' }),
  ZONING_DATA_STRUCTURE_NOT_FOUND: specific(0x31),
  INSUFFICIENT_DISCOVERY_RESOURCES: specific(0x32),
  REQUESTED_FUNCTION_DISABLED: specific(0x33),
  ZONEGROUP_ORIGINATOR_INVALID: specific(0x34, { name: 'ZoneGroup Originator Invalid' }),
  INVALID_HOST: specific(0x35),
  INVALID_NVM_SUBSYSTEM: specific(0x36),
  INVALID_CONTROLLER_DATA_QUEUE: specific(0x37),
  NOT_ENOUGH_RESOURCES: specific(0x38, { retry: 'later' }),
  CONTROLLER_SUSPENDED: specific(0x39, { retry: 'later' }),
  CONTROLLER_NOT_SUSPENDED: specific(0x3a),
  CONTROLLER_DATA_QUEUE_FULL: specific(0x3b, { retry: 'later' }),
  // NVM 1.2 Figure 18 lists the commands, which the ZNS Command Set includes. KV 1.0d §3.1 defines no such status.
  CONFLICTING_ATTRIBUTES: ofBlocks(0x80),
  INVALID_PROTECTION_INFORMATION: ofBlocks(0x81),
  // Also returned by Format NVM
  ATTEMPTED_WRITE_TO_READ_ONLY_RANGE: specific(0x82, { returnedBy: ['admin', 'nvm', 'zns'] }),
  COMMAND_SIZE_LIMIT_EXCEEDED: ofBlocks(0x83),
  // Returned by Cancel, an I/O command of the Base Specification (Base 2.1 Figure 558)
  INVALID_COMMAND_ID: ofIo(0x84),
  INCOMPATIBLE_NAMESPACE_OR_FORMAT: ofBlocks(0x85),
  FAST_COPY_NOT_POSSIBLE: ofBlocks(0x86),
  OVERLAPPING_I_O_RANGE: ofBlocks(0x87),
  // Figure 104 does not say which commands return 88h and 8Ah to 9Ch
  NAMESPACE_NOT_REACHABLE: ofIo(0x88),
  INSUFFICIENT_RESOURCES: ofBlocks(0x89, { retry: 'later' }),
  INSUFFICIENT_PROGRAM_RESOURCES: ofIo(0x8a, { retry: 'later' }),
  INVALID_MEMORY_NAMESPACE: ofIo(0x8b),
  INVALID_MEMORY_RANGE_SET: ofIo(0x8c),
  INVALID_MEMORY_RANGE_SET_IDENTIFIER: ofIo(0x8d),
  INVALID_PROGRAM_DATA: ofIo(0x8e),
  INVALID_PROGRAM_INDEX: ofIo(0x8f),
  INVALID_PROGRAM_TYPE: ofIo(0x90),
  MAXIMUM_MEMORY_RANGES_EXCEEDED: ofIo(0x91),
  MAXIMUM_MEMORY_RANGE_SETS_EXCEEDED: ofIo(0x92),
  MAXIMUM_PROGRAMS_ACTIVATED: ofIo(0x93, { retry: 'later' }),
  MAXIMUM_PROGRAM_BYTES_EXCEEDED: ofIo(0x94),
  MEMORY_RANGE_SET_IN_USE: ofIo(0x95, { retry: 'later' }),
  NO_PROGRAM: ofIo(0x96),
  OVERLAPPING_MEMORY_RANGES: ofIo(0x97),
  // From here to 9Ch from Base 2.2: Base 2.1's page could not be read
  PROGRAM_NOT_ACTIVATED: ofIo(0x98),
  PROGRAM_IN_USE: ofIo(0x99, { retry: 'later' }),
  PROGRAM_INDEX_NOT_DOWNLOADABLE: ofIo(0x9a),
  PROGRAM_TOO_BIG: ofIo(0x9b),
  SUCCESSFUL_MEDIA_VERIFICATION_READ: ofIo(0x9c),
  // B6h and B7h are from libnvme 1.3 enum nvme_status_field; ZNS 1.1 (§3.3 and §3.4) defines only B8h to BFh
  INVALID_ZONE_OPERATION_REQUEST: ofZones(0xb6),
  ZRWA_RESOURCES_UNAVAILABLE: ofZones(0xb7, { retry: 'later' }),
  ZONED_BOUNDARY_ERROR: ofZones(0xb8),
  ZONE_IS_FULL: ofZones(0xb9),
  ZONE_IS_READ_ONLY: ofZones(0xba),
  ZONE_IS_OFFLINE: ofZones(0xbb),
  ZONE_INVALID_WRITE: ofZones(0xbc),
  TOO_MANY_ACTIVE_ZONES: ofZones(0xbd, { retry: 'later' }),
  TOO_MANY_OPEN_ZONES: ofZones(0xbe, { retry: 'later' }),
  INVALID_ZONE_STATE_TRANSITION: ofZones(0xbf),

  // Media and Data Integrity Errors (SCT 2h), Base 2.1 Figure 106
  WRITE_FAULT: media(0x80, { retry: 'same' }),
  UNRECOVERED_READ_ERROR: media(0x81, { retry: 'same' }),
  END_TO_END_GUARD_CHECK_ERROR: media(0x82, { name: 'End-to-end Guard Check Error' }),
  END_TO_END_APPLICATION_TAG_CHECK_ERROR: media(0x83, { name: 'End-to-end Application Tag Check Error' }),
  END_TO_END_REFERENCE_TAG_CHECK_ERROR: media(0x84, { name: 'End-to-end Reference Tag Check Error' }),
  COMPARE_FAILURE: media(0x85, { returnedBy: ['nvm'] }),
  ACCESS_DENIED: media(0x86),
  DEALLOCATED_OR_UNWRITTEN_LOGICAL_BLOCK: media(0x87, { returnedBy: ['nvm'] }),
  END_TO_END_STORAGE_TAG_CHECK_ERROR: media(0x88, { name: 'End-to-End Storage Tag Check Error' }),

  // Path Related Status (SCT 3h), Base 2.1 Figure 107
  INTERNAL_PATH_ERROR: path(0x00),
  ASYMMETRIC_ACCESS_PERSISTENT_LOSS: path(0x01),
  ASYMMETRIC_ACCESS_INACCESSIBLE: path(0x02),
  ASYMMETRIC_ACCESS_TRANSITION: path(0x03, { retry: 'later' }),
  CONTROLLER_PATHING_ERROR: path(0x60),
  HOST_PATHING_ERROR: path(0x70),
  COMMAND_ABORTED_BY_HOST: path(0x71, { name: 'Command Aborted By Host' }),
}))

const byCode = /*#__PURE__*/ codesByNumber()

const typeNames = [
  'Generic Command Status',
  'Command Specific Status',
  'Media and Data Integrity Error',
  'Path Related Status',
]

/**
 * Returns the row of a status; undefined if the specification does not name it.
 * @param own rows to look at first: FABRICS_STATUS for a Fabrics command.
 */
export function statusOf(sct: number, sc: number, own?: StatusTable): StatusCode | undefined {
  const first = own && Object.values(own).find((code) => code.sct === sct && code.sc === sc)
  return first ?? byCode.get(keyOf(sct, sc))
}

/**
 * Returns the specification's name of a status, or its type and number if it has none.
 * @param own rows to look at first: FABRICS_STATUS for a Fabrics command.
 */
export function statusName(sct: number, sc: number, own?: StatusTable): string {
  const type = typeNames[sct] ?? (sct === 7 ? 'Vendor Specific Status' : `Reserved Status Code Type ${sct}h`)
  return statusOf(sct, sc, own)?.name ?? `${type} ${hex(sc)}h`
}

/**
 * Formats a status for error messages: `LBA Out of Range (SCT 0h SC 80h, DNR)`.
 * @param own rows to look at first: FABRICS_STATUS for a Fabrics command.
 */
export function formatStatus(status: Status, own?: StatusTable): string {
  const flags = `${status.dnr ? ', DNR' : ''}${status.more ? ', M' : ''}`
  return `${statusName(status.sct, status.sc, own)} (SCT ${status.sct}h SC ${hex(status.sc)}h${flags})`
}

/**
 * Returns how the command may be retried; undefined if it must not be. DNR always wins. A Command Retry Delay requests
 * a retry after that delay: pass `crd` only if ACRE is set, since it is reserved otherwise. For a status without a
 * name, only these bits are used. The caller must know whether the command may be executed twice: a failed command may
 * have been executed in part.
 * @param own rows to look at first: FABRICS_STATUS for a Fabrics command.
 * @throws RangeError for a type that is not an integer from 0 to 7, or a code that is not one from 0 to 255; TypeError
 *   if either is not a number.
 */
export function mayRetry(status: Status, own?: StatusTable): Exclude<Retry, 'never'> | undefined {
  const { sct, sc, dnr, crd = 0 } = status
  checkInteger('Status Code Type', sct, 0, 7)
  checkInteger('Status Code', sc, 0, 255)
  if (dnr || (sct === 0 && sc === 0)) return undefined
  const retry = statusOf(sct, sc, own)?.retry ?? (sct === 3 ? 'other-path' : 'same')
  if (crd !== 0 && retry !== 'other-path') return 'later'
  return retry === 'never' ? undefined : retry
}

function codesByNumber(): ReadonlyMap<number, StatusCode> {
  return new Map(Object.values(STATUS).map((code) => [keyOf(code.sct, code.sc), code]))
}

function keyOf(sct: number, sc: number): number {
  return sct * 256 + sc
}

function hex(value: number): string {
  return value.toString(16).toUpperCase().padStart(2, '0')
}
