import { Read, SQE, STATUS, type StatusCode } from '@gpunvme/nvme-spec'
import type { FaultAction } from '@gpunvme/nvme-spec/transport'
import type { Namespace } from '../nvm/namespace.js'
import { Runs } from '../memory/prp-walk.js'
import { SQE_BYTES, type SubmissionQueue } from '../queues/queue.js'

/** How a command ended; 'held' for one that completes only when something happens. */
export type Result = Ended | 'held'

/** The status that a command ends with. */
export type Ended = Pick<StatusCode, 'sct' | 'sc' | 'name'>

/** The three steps that wait for their time. */
export interface Steps {
  begin(command: ServedCommand): void
  transfer(command: ServedCommand): void
  finish(command: ServedCommand): void
}

/** One of the controller's command slots, and the command in it. Slots are used again: no garbage per command. */
export class ServedCommand {
  /** The controller's own copy of the entry: the host may overwrite its own as soon as it is fetched. */
  readonly entry = new Uint8Array(SQE_BYTES)
  readonly data = new DataView(this.entry.buffer)
  readonly sqe = SQE.view(this.data)
  /** The same entry as a Read, or a Write: what is used here stands in the same place in both. */
  readonly readWrite = Read.view(this.data)
  readonly runs = new Runs()

  sq!: SubmissionQueue
  /** Set when the outcome is known; doNotRetry when the same command would end so again. */
  result: Result | undefined
  doNotRetry = false
  dw0 = 0
  fault: FaultAction | undefined
  /** Where the command's data lies on the namespace; lengthBytes is 0 for a command without data. */
  namespace: Namespace | undefined
  offsetBytes = 0
  lengthBytes = 0
  /** Under way: fetched, and its slot not yet given back. */
  isBusy = false
  /** Its slot was taken away: steps that still come due do nothing. */
  isAborted = false

  readonly begin: () => void
  readonly transfer: () => void
  readonly finish: () => void

  constructor(steps: Steps) {
    this.begin = () => {
      if (!this.isAborted) steps.begin(this)
    }
    this.transfer = () => {
      if (!this.isAborted) steps.transfer(this)
    }
    this.finish = () => {
      if (!this.isAborted) steps.finish(this)
    }
  }

  isAdmin(): boolean {
    return this.sq.qid === 0
  }

  /** Ends without data being moved: the same command would be refused again. */
  refuse(status: Ended): void {
    this.result = status
    this.doNotRetry = status !== STATUS.SUCCESS
  }

  /** Takes a fresh entry. */
  accept(sq: SubmissionQueue, entry: Uint8Array): void {
    this.entry.set(entry)
    this.sq = sq
    this.isBusy = true
    this.result = undefined
    this.doNotRetry = false
    this.dw0 = 0
    this.fault = undefined
    this.runs.clear()
    this.namespace = undefined
    this.offsetBytes = 0
    this.lengthBytes = 0
  }
}
