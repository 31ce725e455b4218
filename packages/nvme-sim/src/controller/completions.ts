import { CQE, STATUS } from '@gpunvme/nvme-spec'
import { damageCompletion, LateCompletions } from '../faults/completion-faults.js'
import { CQE_BYTES, type Completion, type CompletionQueue } from '../queues/queue.js'
import type { Ended, ServedCommand } from './command.js'
import type { Device } from './device.js'
import { hex } from './diagnostics.js'
import { statusField } from './status-field.js'

/** The More bit in the upper half of CQE DW3. */
const MORE = 1 << CQE.STATUS.M.lsb

/** Status Code and Status Code Type in the upper half of CQE DW3. */
const STATUS_CODE = 0x0ffe

/**
 * Posts completion queue entries. Entries without a free slot, or without bus mastering, are held until they can be
 * posted.
 */
export class Completions {
  /** Completions that a fault delays until others were posted. */
  readonly late = new LateCompletions()
  private readonly device: Device
  private readonly fail: (reason: string) => void
  private isOpen = false
  /** The completion being posted. One object is reused, and copied if the completion must wait. */
  private completion: Completion | undefined

  constructor(device: Device, fail: (reason: string) => void) {
    this.device = device
    this.fail = fail
  }

  /** Completes a command: counts it, logs an error, and posts the completion. */
  complete(command: ServedCommand, status: Ended): void {
    const { counters, faults, health, clock } = this.device
    const { matched, sqe } = command
    if (!command.isAdmin()) health.busy.end(clock.now())
    // A host may reuse the identifier after waiting for a completion that a fault drops or damages.
    if (matched !== undefined) command.sq.inFlight.end(sqe.CID)
    if (matched?.has('drop-completion')) {
      faults.record(matched, 'drop-completion')
      return
    }
    const counts = command.isAdmin() ? counters.admin : counters.io
    counts[sqe.OPC]!++
    if (status !== STATUS.SUCCESS) this.logError(command, status)
    if (matched === undefined) this.post(this.fill(command, status))
    else {
      // A copy: posting may release another completion before this one is posted again.
      const completion = { ...this.fill(command, status) }
      damageCompletion(completion, matched, faults)
      this.post(completion)
      if (!matched.has('duplicate-completion')) return
      faults.record(matched, 'duplicate-completion')
      this.post(completion)
    }
  }

  /** Ends a command early; it is not counted. */
  abort(command: ServedCommand, status: Ended): void {
    const { health, clock } = this.device
    if (!command.isAdmin()) health.busy.end(clock.now())
    command.dw0 = 0
    command.dw1 = 0
    this.post(this.fill(command, status))
  }

  /** Completes a held Admin command. */
  answer(cid: number, dw0: number, status: Ended): void {
    const sq = this.device.queues.sq(0)
    if (sq === undefined) return
    const fetchedNs = this.device.clock.now()
    this.post({ sq, cid, status: statusField(status), dw0, dw1: 0, fetchedNs, damage: undefined })
  }

  /** Posts the entry from `back` entries ago again; returns false if it is not in the queue. */
  repeat(qid: number, back: number): boolean {
    const { queues, clock } = this.device
    const entry = this.isOpen ? queues.cq(qid)?.earlier(back) : undefined
    if (entry === undefined) return false
    const sq = queues.sq(entry.sqid)
    // Its submission queue may be deleted, or its identifier damaged by a fault.
    if (sq?.cq.qid !== qid) return false
    const { cid, status, dw0, dw1 } = entry
    this.post({ sq, cid, status, dw0, dw1, fetchedNs: clock.now() })
    return true
  }

  /** Posts held completions of a completion queue while it has free slots. */
  drain(cq: CompletionQueue): void {
    while (this.isOpen && cq.held.length > 0 && !cq.isFull() && this.device.pci.isBusMaster)
      this.write(cq, cq.held.shift()!)
  }

  /** The controller is ready: it may post. */
  open(): void {
    this.isOpen = true
  }

  /** Stops posting and drops held completions. */
  close(): void {
    this.isOpen = false
    this.late.clear()
  }

  private fill({ sq, sqe, more, dw0, dw1, fetchedNs }: ServedCommand, status: Ended): Completion {
    const completion = (this.completion ??= { sq, cid: 0, status: 0, dw0, dw1, fetchedNs, damage: undefined })
    completion.sq = sq
    completion.cid = sqe.CID
    completion.status = statusField(status) | more
    completion.dw0 = dw0
    completion.dw1 = dw1
    completion.fetchedNs = fetchedNs
    completion.damage = undefined
    return completion
  }

  /** Logs an error, and records whether the log has more details than the completion. */
  private logError(command: ServedCommand, status: Ended): void {
    const { counters, errors, health } = this.device
    counters.errors++
    health.failed(status)
    if (errors.addCommand(command, status, statusField(status))) command.more = MORE
  }

  /** Releases the identifier in the entry, as the host will read it, for reuse. */
  private endIdentifier({ sq, cid, damage }: Completion): void {
    const named = damage === undefined ? sq : this.device.queues.sq(sq.qid ^ damage.sqid)
    named?.inFlight.end(cid)
  }

  private post(completion: Completion): void {
    if (!this.isOpen) return
    const { cq } = completion.sq
    // Held completions are posted first, so that completions of one queue keep their order.
    if (cq.held.length > 0 || cq.isFull() || !this.device.pci.isBusMaster) cq.held.push({ ...completion })
    else this.write(cq, completion)
  }

  private write(cq: CompletionQueue, completion: Completion): void {
    const { memory, trace, interrupts } = this.device
    if (!memory.has(cq.iova, cq.entries * CQE_BYTES, 'write')) {
      this.fail(`CQ ${cq.qid}: its memory at ${hex(cq.iova)} is no longer mapped`)
      return
    }
    this.endIdentifier(completion)
    const index = cq.post(completion)
    const { ring, first } = cq.lastPart
    trace.post(cq.qid, ring, (index - first) * CQE.bytes, completion.fetchedNs)
    if (cq.vector !== undefined) interrupts.posted(cq.vector, cq, (completion.status & STATUS_CODE) !== 0)
    if (!this.late.isEmpty) this.late.posted(cq)
  }
}
