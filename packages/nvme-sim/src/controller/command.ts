import { commandOf, Read, SQE, STATUS, type StatusCode } from '@gpunvme/nvme-spec'
import type { MatchedFaults } from '@gpunvme/nvme-spec/faults'
import type { IoCommand } from '../nvm/io-command.js'
import type { Namespace } from '../nvm/namespace.js'
import { NO_LOCATION } from '../logs/error-log.js'
import type { Requester } from '../memory/reachable.js'
import { Runs } from '../memory/runs.js'
import { SQE_BYTES, type SubmissionQueue } from '../queues/queue.js'
import { hex } from './diagnostics.js'

const NO_RANGES: readonly number[] = []

/** How a command ended; 'held' if it completes later, on an event. */
export type Result = Ended | 'held'

/** The final status of a command; `retry` determines its Do Not Retry bit. */
export type Ended = Pick<StatusCode, 'sct' | 'sc' | 'name' | 'retry'>

/** The steps that are scheduled for a later time. */
export interface Steps {
  begin(command: ServedCommand): void
  transfer(command: ServedCommand): void
  /** Only for data in GPU memory. */
  reachGpu(command: ServedCommand): void
  finish(command: ServedCommand): void
}

/** Fetched commands that have not completed, as accessible to Admin commands. */
export interface CommandsUnderWay {
  /** Deletes a submission queue after all its commands in progress have ended (Base 2.1 §5.2.4). */
  deleteSq(sq: SubmissionQueue): void
  /** Ends a command other than `by` with Command Abort Requested; returns false if it is not in progress. */
  abort(sqid: number, cid: number, by: ServedCommand): boolean
  /** Number of Admin commands with this opcode that are in progress and not rejected. */
  countAdmin(opcode: number): number
  /** Whether an I/O command for a namespace is in progress. */
  isUsing(namespace: Namespace): boolean
  /**
   * Ends all I/O commands for a namespace that is no longer active, with the status for an inactive NSID (Base 2.3
   * §8.1.16).
   */
  endAll(namespace: Namespace): void
  /** Completes a held Admin command. */
  answer(cid: number, dw0: number, status?: Ended): void
}

/** A command slot of the controller with its command. Slots are reused, so that a command allocates no object. */
export class ServedCommand implements Requester {
  /** The controller's own copy of the entry: the host may overwrite its entry as soon as it is fetched. */
  readonly entry = new Uint32Array(SQE_BYTES / 4)
  readonly data = new DataView(this.entry.buffer)
  readonly sqe = SQE.view(this.data)
  /** The entry as a Read; the fields used here are at the same place in a Write. */
  readonly readWrite = Read.view(this.data)
  readonly runs = new Runs()
  /** Location of metadata that is transferred separately from its blocks. */
  readonly metadataRuns = new Runs()

  sq!: SubmissionQueue
  fetchedNs = 0
  /** Implementation of an I/O command; undefined for Admin commands and unsupported opcodes. */
  handler: IoCommand | undefined
  /** Set when the outcome is known. */
  result: Result | undefined
  dw0 = 0
  dw1 = 0
  /** The invalid field, for the error log: byte of the entry and, from bit 8, bit of that byte. */
  errorAt = NO_LOCATION
  /** The More bit of the status: the error log has more details than the completion. */
  more = 0
  /** Faults of the plan that apply to it; usually undefined. */
  matched: MatchedFaults | undefined
  /** Location of the command's logical blocks; `blocks` is 0 for a command without any. */
  namespace: Namespace | undefined
  slba = 0
  blocks = 0
  /** Bytes that cross the link. */
  lengthBytes = 0
  /** Bytes that the drive additionally reads, without sending them. */
  inwardBytes = 0
  /** Ranges from the command's data: first block and number of blocks, alternating. */
  ranges: readonly number[] = NO_RANGES
  /** The other half of a fused operation, and whether this half is ready and waits for it. */
  partner: ServedCommand | undefined
  isWaiting = false
  /** The controller has begun this Admin command. */
  hasBegun = false
  /** In progress: fetched, and the slot is not yet released. */
  isBusy = false
  /** The slot was taken away: remaining scheduled steps have no effect. */
  isAborted = false

  readonly begin: () => void
  readonly transfer: () => void
  readonly reachGpu: () => void
  readonly finish: () => void

  constructor(steps: Steps) {
    this.begin = () => {
      if (!this.isAborted) steps.begin(this)
    }
    this.transfer = () => {
      if (!this.isAborted) steps.transfer(this)
    }
    this.reachGpu = () => {
      if (!this.isAborted) steps.reachGpu(this)
    }
    this.finish = () => {
      if (!this.isAborted) steps.finish(this)
    }
  }

  isAdmin(): boolean {
    return this.sq.qid === 0
  }

  /** Description for messages: 'SQ 1 CID 0x7 Read'. Built only if something is wrong. */
  describe(): string {
    const { CID, OPC } = this.sqe
    const name = commandOf(this.isAdmin() ? 'admin' : 'nvm', OPC)?.name ?? `command ${hex(OPC)}`
    return `SQ ${this.sq.qid} CID ${hex(CID)} ${name}`
  }

  /** Ends the command without moving data. */
  refuse(status: Ended): void {
    this.result = status
  }

  /** Records the invalid field of the entry, and returns the status for it. */
  invalidField(byte: number, bit = 0): StatusCode {
    this.errorAt = byte | (bit << 8)
    return STATUS.INVALID_FIELD_IN_COMMAND
  }

  /** Takes the entry at the head of `sq`. */
  accept(sq: SubmissionQueue, nowNs: number): void {
    sq.take(this.entry)
    this.sq = sq
    this.fetchedNs = nowNs
    this.isBusy = true
    this.handler = undefined
    this.result = undefined
    this.dw0 = 0
    this.dw1 = 0
    this.errorAt = NO_LOCATION
    this.more = 0
    this.hasBegun = false
    this.matched = undefined
    this.runs.clear()
    this.metadataRuns.clear()
    this.namespace = undefined
    this.slba = 0
    this.blocks = 0
    this.lengthBytes = 0
    this.inwardBytes = 0
    this.ranges = NO_RANGES
    this.partner = undefined
    this.isWaiting = false
  }
}
