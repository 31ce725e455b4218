import { AEI_ERROR, countOf, ErrorLogEntry, STATUS, zeroBased, type StatusCode } from '@gpunvme/nvme-spec'
import type { Ended, ServedCommand } from '../controller/command.js'
import { statusCodeBits } from '../controller/status-field.js'
import type { DriveProfile } from '../profiles/profile.js'

/** Default of ELPE, if the profile does not set it. */
export const ERROR_LOG_ENTRIES = zeroBased(64)

/** Parameter Error Location if unknown. */
export const NO_LOCATION = 0xffff
/** SQID and CID of an error that belongs to no command. */
const NO_COMMAND = 0xffff

interface LoggedError {
  readonly ECNT: bigint
  readonly SQID: number
  readonly CID: number
  readonly STS: number
  readonly PEL: number
  readonly LBA: bigint
  readonly NSID: number
  readonly OPC: number
}

/** The most recent errors, latest first (Base 2.3 §5.2.12.1.2). */
export class ErrorLog {
  /** Errors over the life of the controller. */
  count = 0
  private readonly limit: number
  private entries: LoggedError[] = []

  constructor({ identify }: DriveProfile) {
    this.limit = countOf(identify.ELPE ?? ERROR_LOG_ENTRIES)
  }

  /**
   * Adds a failed command, with the upper half of its DW3. Returns whether the entry has more details than the
   * completion: the invalid field, or the affected blocks.
   */
  addCommand({ sq, sqe, slba, blocks, errorAt }: ServedCommand, status: Ended, statusField: number): boolean {
    const code = codeOf(status)
    if (unlogged.has(code)) return false
    const PEL = errorAt === NO_LOCATION ? (usualLocations.get(code) ?? NO_LOCATION) : errorAt
    const { CID, NSID, OPC } = sqe
    this.add({ SQID: sq.qid, CID, STS: statusField, PEL, LBA: BigInt(slba), NSID, OPC })
    return PEL !== NO_LOCATION || blocks > 0
  }

  /** Adds an error without a command, reported by an asynchronous event. */
  addEvent(aei: number): void {
    const STS = statusCodeBits(eventStatus.get(aei) ?? STATUS.INTERNAL_ERROR)
    this.add({ SQID: NO_COMMAND, CID: NO_COMMAND, STS, PEL: NO_LOCATION, LBA: 0n, NSID: 0, OPC: 0 })
  }

  /** Controller Level Reset: entries are cleared, their count continues. */
  reset(): void {
    this.entries = []
  }

  /** The log page: one entry per error; the others are invalid. */
  page(): DataView {
    const page = new DataView(new ArrayBuffer(this.limit * ErrorLogEntry.bytes))
    for (const [index, entry] of this.entries.entries()) {
      ErrorLogEntry.encode(page, index * ErrorLogEntry.bytes, { ...entry, LPVER: 1 })
    }
    return page
  }

  private add(error: Omit<LoggedError, 'ECNT'>): void {
    this.count++
    this.entries.unshift({ ECNT: BigInt(this.count), ...error })
    if (this.entries.length > this.limit) this.entries.pop()
  }
}

function codeOf({ sct, sc }: Ended): number {
  return (sct << 8) | sc
}

/** Statuses that are not mistakes in the command are not logged. */
const unlogged: ReadonlySet<number> = new Set(
  [
    STATUS.COMMAND_ABORT_REQUESTED,
    STATUS.COMMAND_ABORTED_DUE_TO_SQ_DELETION,
    STATUS.COMMAND_ABORTED_DUE_TO_FAILED_FUSED_COMMAND,
    STATUS.COMPARE_FAILURE,
  ].map(codeOf),
)

/** The field that a status refers to, as byte of the entry and bit of that byte, if it is always the same. */
const usualLocations: ReadonlyMap<number, number> = new Map(
  (
    [
      [STATUS.INVALID_COMMAND_OPCODE, 0],
      [STATUS.INVALID_NAMESPACE_OR_FORMAT, 4],
      [STATUS.NAMESPACE_IS_WRITE_PROTECTED, 4],
      [STATUS.FEATURE_NOT_NAMESPACE_SPECIFIC, 4],
      [STATUS.PRP_OFFSET_INVALID, 24],
      [STATUS.DATA_TRANSFER_ERROR, 24],
      [STATUS.LBA_OUT_OF_RANGE, 40],
      [STATUS.INVALID_LOG_PAGE, 40],
      [STATUS.INVALID_QUEUE_IDENTIFIER, 40],
      [STATUS.INVALID_QUEUE_SIZE, 42],
      [STATUS.FEATURE_IDENTIFIER_NOT_SAVEABLE, 43 | (7 << 8)],
      [STATUS.INVALID_INTERRUPT_VECTOR, 46],
    ] as const
  ).map(([status, location]) => [codeOf(status), location]),
)

/** The most applicable status of an error without a command. */
const eventStatus: ReadonlyMap<number, StatusCode> = new Map([
  [AEI_ERROR.INVALID_DOORBELL_REGISTER, STATUS.INVALID_QUEUE_IDENTIFIER],
  [AEI_ERROR.INVALID_DOORBELL_VALUE, STATUS.INVALID_FIELD_IN_COMMAND],
])
