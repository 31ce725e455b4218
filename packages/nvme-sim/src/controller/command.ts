import { commandOf, Read, SQE, STATUS, type StatusCode } from '@gpunvme/nvme-spec'
import type { Struck } from '@gpunvme/nvme-spec/faults'
import type { IoCommand } from '../nvm/io-command.js'
import type { Namespace } from '../nvm/namespace.js'
import { NO_LOCATION } from '../logs/error-log.js'
import type { Asker } from '../memory/reachable.js'
import { Runs } from '../memory/runs.js'
import { SQE_BYTES, type SubmissionQueue } from '../queues/queue.js'
import { hex } from './diagnostics.js'

const NO_RANGES: readonly number[] = []

/** How a command ended; 'held' for one that completes only when something happens. */
export type Result = Ended | 'held'

/** The status that a command ends with; `retry` is what its Do Not Retry bit follows from. */
export type Ended = Pick<StatusCode, 'sct' | 'sc' | 'name' | 'retry'>

/** The steps that wait for their time. */
export interface Steps {
  begin(command: ServedCommand): void
  transfer(command: ServedCommand): void
  /** Of what goes to GPU memory alone. */
  reachGpu(command: ServedCommand): void
  finish(command: ServedCommand): void
}

/** The commands that have been fetched and not completed, as Admin commands may reach them. */
export interface CommandsUnderWay {
  /** Deletes a submission queue; every command of it that is under way ends before (Base 2.1 §5.2.4). */
  deleteSq(sq: SubmissionQueue): void
  /** Ends a command other than `by` with Command Abort Requested; false where there is none under way by that name. */
  abort(sqid: number, cid: number, by: ServedCommand): boolean
  /** How many Admin commands with this opcode have begun, and are not to be refused. */
  countAdmin(opcode: number): number
  /** Whether an I/O command for a namespace is under way. */
  isUsing(namespace: Namespace): boolean
  /** Ends every I/O command for a namespace that is active no more, as one for an inactive NSID (Base 2.3 §8.1.16). */
  endAll(namespace: Namespace): void
  /** Completes a command of the Admin queue that was held. */
  answer(cid: number, dw0: number, status?: Ended): void
}

/** One of the controller's command slots, and the command in it. Slots are used again: a command costs no object here. */
export class ServedCommand implements Asker {
  /** The controller's own copy of the entry: the host may overwrite its own as soon as it is fetched. */
  readonly entry = new Uint32Array(SQE_BYTES / 4)
  readonly data = new DataView(this.entry.buffer)
  readonly sqe = SQE.view(this.data)
  /** The same entry as a Read, or a Write: what is used here stands in the same place in both. */
  readonly readWrite = Read.view(this.data)
  readonly runs = new Runs()
  /** Where metadata lies that is not transferred with its blocks. */
  readonly metadataRuns = new Runs()

  sq!: SubmissionQueue
  fetchedNs = 0
  /** What an I/O command does; undefined for Admin commands and opcodes that are not supported. */
  handler: IoCommand | undefined
  /** Set when the outcome is known. */
  result: Result | undefined
  dw0 = 0
  dw1 = 0
  /** Which field is wrong, for the error log: the byte of the entry and, from bit 8 on, the bit of that byte. */
  errorAt = NO_LOCATION
  /** The More bit of the status, where the error log says more than the completion. */
  more = 0
  /** What the fault plan does to it; undefined for nearly all. */
  struck: Struck | undefined
  /** Where the command's logical blocks lie; blocks is 0 for a command without any. */
  namespace: Namespace | undefined
  slba = 0
  blocks = 0
  /** Bytes that cross the link. */
  lengthBytes = 0
  /** Bytes that the drive reads beside those, and does not send anywhere. */
  inwardBytes = 0
  /** Ranges that the host has given in the command's data, in turn: first block and number of blocks. */
  ranges: readonly number[] = NO_RANGES
  /** The other half of a fused operation; whether this half is done but for taking effect, and waits for the other. */
  partner: ServedCommand | undefined
  isWaiting = false
  /** An Admin command that the controller has looked at. */
  hasBegun = false
  /** Under way: fetched, and its slot not yet given back. */
  isBusy = false
  /** Its slot was taken away: steps that still come due do nothing. */
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

  /** 'SQ 1 CID 0x7 Read': for messages, of which there are none on a good path. */
  words(): string {
    const { CID, OPC } = this.sqe
    const name = commandOf(this.isAdmin() ? 'admin' : 'nvm', OPC)?.name ?? `command ${hex(OPC)}`
    return `SQ ${this.sq.qid} CID ${hex(CID)} ${name}`
  }

  /** Ends without data being moved. */
  refuse(status: Ended): void {
    this.result = status
  }

  /** Says which field of the entry is wrong, and that it is one. */
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
    this.struck = undefined
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
