import { adminCommand, bit, bits, cdw, codes, openBits, word32 } from '../layout/index.js'

/** Requests that a command be aborted; `AbortDw0` has the result (Base 2.1 §5.1.1). */
export const Abort = adminCommand(
  'Abort',
  {
    opcode: 0x08,
    doc: 'Requests the abort of a command',
    spec: 'Base 2.1 §5.1.1',
  },
  {
    SQID: cdw(10, 15, 0, 'Submission Queue Identifier'),
    ABORTED_CID: cdw(10, 31, 16, 'Command Identifier'),
  },
)

/** Dword 0 of the completion of Abort (Base 2.1 Figure 144). */
export const AbortDw0 = word32(
  'Abort DW0',
  { doc: 'Whether the command was aborted immediately', spec: 'Base 2.1 §5.1.1' },
  { IANP: bit(0, 'Immediate Abort Not Performed') },
)

/** Held by the controller until it has an event to report in `AsyncEventDw0` (Base 2.1 §5.1.2). */
export const AsyncEventRequest = adminCommand(
  'Asynchronous Event Request',
  { opcode: 0x0c, doc: 'Held until an event occurs', spec: 'Base 2.1 §5.1.2' },
  {},
)

/** Asynchronous Event Types (Base 2.1 Figure 147). */
export const AET = codes(
  'AET',
  { doc: 'Asynchronous Event Types', spec: 'Base 2.1 §5.1.2.1' },
  {
    ERROR_STATUS: 0x0,
    SMART_HEALTH_STATUS: 0x1,
    NOTICE: 0x2,
    IMMEDIATE: 0x3,
    ONE_SHOT: 0x4,
    IO_COMMAND_SPECIFIC: 0x6,
    VENDOR: 0x7,
  },
)

/** Information of Error status events; the page of Base 2.1 (Figure 149) could not be read. */
export const AEI_ERROR = codes(
  'AEI_ERROR',
  { doc: 'Asynchronous Event Information: Error status', spec: 'libnvme 1.3 nvme_ae_info_error' },
  {
    INVALID_DOORBELL_REGISTER: 0x00,
    INVALID_DOORBELL_VALUE: 0x01,
    DIAGNOSTIC_FAILURE: 0x02,
    PERSISTENT_INTERNAL_ERROR: 0x03,
    TRANSIENT_INTERNAL_ERROR: 0x04,
    FIRMWARE_IMAGE_LOAD_ERROR: 0x05,
  },
)

/** Information of SMART / Health status events; the page of Base 2.1 (Figure 150) could not be read. */
export const AEI_SMART = codes(
  'AEI_SMART',
  { doc: 'Asynchronous Event Information: SMART / Health status', spec: 'libnvme 1.3 nvme_ae_info_smart' },
  { SUBSYSTEM_RELIABILITY: 0x00, TEMPERATURE_THRESHOLD: 0x01, SPARE_BELOW_THRESHOLD: 0x02 },
)

/** Information of Notice events (Base 2.1 Figure 151). */
export const AEI_NOTICE = codes(
  'AEI_NOTICE',
  { doc: 'Asynchronous Event Information: Notice', spec: 'Base 2.1 §5.1.2.1' },
  {
    ATTACHED_NAMESPACE_ATTRIBUTE_CHANGED: 0x00,
    FIRMWARE_ACTIVATION_STARTING: 0x01,
    TELEMETRY_LOG_CHANGED: 0x02,
    ASYMMETRIC_NAMESPACE_ACCESS_CHANGE: 0x03,
    PREDICTABLE_LATENCY_EVENT_AGGREGATE_LOG_CHANGE: 0x04,
    LBA_STATUS_INFORMATION_ALERT: 0x05,
    ENDURANCE_GROUP_EVENT_AGGREGATE_LOG_PAGE_CHANGE: 0x06,
    REACHABILITY_GROUP_CHANGE: 0x07,
    REACHABILITY_ASSOCIATION_CHANGE: 0x08,
    ALLOCATED_NAMESPACE_ATTRIBUTE_CHANGED: 0x09,
    ZONE_DESCRIPTOR_CHANGED: 0xef,
    DISCOVERY_LOG_PAGE_CHANGE: 0xf0,
    HOST_DISCOVERY_LOG_PAGE_CHANGE: 0xf1,
    AVE_DISCOVERY_LOG_PAGE_CHANGE: 0xf2,
    PULL_MODEL_DDC_REQUEST: 0xf3,
  },
)

/** Information of I/O Command specific status events (Base 2.1 Figure 152). */
export const AEI_IO_COMMAND = codes(
  'AEI_IO_COMMAND',
  { doc: 'Asynchronous Event Information: I/O Command specific status', spec: 'Base 2.1 §5.1.2.1' },
  {
    RESERVATION_LOG_PAGE_AVAILABLE: 0x00,
    SANITIZE_OPERATION_COMPLETED: 0x01,
    SANITIZE_OPERATION_COMPLETED_WITH_UNEXPECTED_DEALLOCATION: 0x02,
    SANITIZE_OPERATION_ENTERED_MEDIA_VERIFICATION_STATE: 0x03,
  },
)

/** Information of Immediate events (Base 2.1 Figure 153). */
export const AEI_IMMEDIATE = codes(
  'AEI_IMMEDIATE',
  { doc: 'Asynchronous Event Information: Immediate', spec: 'Base 2.1 §5.1.2.1' },
  { NVM_SUBSYSTEM_NORMAL_SHUTDOWN: 0x00, TEMPERATURE_THRESHOLD_HYSTERESIS_RECOVERY: 0x01 },
)

/** Information of One-Shot events (Base 2.1 Figure 154); `AsyncEventDw1` has the queue. */
export const AEI_ONE_SHOT = codes(
  'AEI_ONE_SHOT',
  { doc: 'Asynchronous Event Information: One-Shot', spec: 'Base 2.1 §5.1.2.1' },
  { CONTROLLER_DATA_QUEUE_TAIL_POINTER: 0x00, CONTROLLER_DATA_QUEUE_FULL_ERROR: 0x01 },
)

/** Dword 0 of the completion of Asynchronous Event Request (Base 2.1 Figure 147). */
export const AsyncEventDw0 = word32(
  'Asynchronous Event Request DW0',
  { doc: 'The event, and the log page to read', spec: 'Base 2.1 §5.1.2.1' },
  {
    AET: openBits(2, 0, 'Asynchronous Event Type', AET.values),
    AEI: bits(15, 8, 'Asynchronous Event Information, by type'),
    LID: bits(23, 16, 'Log Page Identifier: reading it clears the event'),
  },
)

/** Dword 1 of the completion, for One-Shot events of a Controller Data Queue (Base 2.1 Figure 155). */
export const AsyncEventDw1 = word32(
  'Asynchronous Event Request DW1',
  { doc: 'Controller Data Queue parameter', spec: 'Base 2.1 §5.1.2.1' },
  { CDQID: bits(15, 0, 'Controller Data Queue Identifier') },
)

/**
 * Returns the table of AsyncEventDw0.AEI for a value of AsyncEventDw0.AET; undefined for reserved and vendor specific
 * types. Each table has its source as `spec`.
 */
export function eventInformation(aet: number) {
  switch (aet) {
    case AET.ERROR_STATUS:
      return AEI_ERROR
    case AET.SMART_HEALTH_STATUS:
      return AEI_SMART
    case AET.NOTICE:
      return AEI_NOTICE
    case AET.IMMEDIATE:
      return AEI_IMMEDIATE
    case AET.ONE_SHOT:
      return AEI_ONE_SHOT
    case AET.IO_COMMAND_SPECIFIC:
      return AEI_IO_COMMAND
    default:
      return undefined
  }
}

/**
 * Formats Dword 0 of the completion: `AET=NOTICE AEI=FIRMWARE_ACTIVATION_STARTING LID=0x03`.
 * @throws TypeError or RangeError if it is not a dword.
 */
export function formatAsyncEvent(dw0: number): string {
  const { AET: type, AEI, LID, reserved } = AsyncEventDw0.decode(dw0)
  const hex = (value: number) => `0x${value.toString(16).padStart(2, '0')}`
  const information = eventInformation(type)?.nameOf(AEI) ?? hex(AEI)
  return [
    `AET=${AsyncEventDw0.AET.nameOf(type)} AEI=${information} LID=${hex(LID)}`,
    ...(reserved === undefined ? [] : [`reserved=0x${reserved.toString(16)}`]),
  ].join(' ')
}
