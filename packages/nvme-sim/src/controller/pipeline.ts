import { Read, STATUS } from '@gpunvme/nvme-spec'
import { performAdmin } from '../admin/admin.js'
import { ServedCommand, type Ended, type Steps } from './command.js'
import type { Device } from './device.js'
import { hex } from './diagnostics.js'
import { corruptData, targetOf } from '../faults/fault.js'
import { ioHandlers } from '../nvm/nvm.js'
import { CQE_BYTES, SQE_BYTES, type Completion, type CompletionQueue, type SubmissionQueue } from '../queues/queue.js'

/** The controller, as far as its pipeline calls on it. */
export interface PipelineOwner {
  /** Sets CSTS.CFS; nothing is fetched or posted any more. */
  fail(reason: string): void
  /** Takes the controller off the bus. */
  remove(): void
}

/**
 * A command's way through the controller: fetch, begin, transfer, finish. Time passes between the steps; many
 * commands are under way at once, and they end in whatever order the drive gets them done.
 */
export class Pipeline implements Steps {
  private readonly device: Device
  private readonly owner: PipelineOwner
  private slots: ServedCommand[] = []
  private free: ServedCommand[] = []
  private isStopped = true
  private isFetchDue = false
  /** Entries may be waiting for a slot. */
  private isStarved = false
  private generation = 0

  constructor(device: Device, owner: PipelineOwner) {
    this.device = device
    this.owner = owner
  }

  start(): void {
    this.isStopped = false
  }

  /** Fetches nothing more; what is under way goes on. */
  stop(): void {
    this.isStopped = true
  }

  /** Forgets every command and posts nothing for it (Base 2.1 §3.7.2). */
  reset(): void {
    this.stop()
    for (const slot of this.slots) slot.isAborted = true
    this.slots = []
    this.free = []
    this.isFetchDue = false
    this.isStarved = false
    this.generation++
  }

  /** There may be entries to fetch at `atNs`. */
  wake(atNs: number): void {
    if (this.isFetchDue || this.isStopped) return
    this.isFetchDue = true
    this.schedule(atNs, () => this.fetch())
  }

  /** A slot of the completion queue was released: posts what waits for it. */
  drain(cq: CompletionQueue, atNs: number): void {
    if (cq.held.length === 0) return
    this.schedule(atNs, () => {
      while (cq.held.length > 0 && !cq.isFull()) this.write(cq, cq.held.shift()!)
      this.wake(this.device.clock.now())
    })
  }

  /** Ends every command of a queue that is being deleted (Base 2.1 §5.2.4). */
  abortAll(sq: SubmissionQueue): void {
    for (const slot of this.slots) {
      if (slot.sq !== sq || !slot.isBusy) continue
      this.post(completionOf(slot, STATUS.COMMAND_ABORTED_DUE_TO_SQ_DELETION))
      slot.isAborted = true
    }
    this.slots = this.slots.filter(({ isAborted }) => !isAborted)
  }

  private fetch(): void {
    this.isFetchDue = false
    const { clock, queues, link, drive, memory } = this.device
    while (!this.isStopped) {
      const slot = this.takeSlot()
      this.isStarved = slot === undefined
      if (slot === undefined) return
      const sq = queues.next()
      if (sq === undefined) {
        this.free.push(slot)
        return
      }
      const iova = sq.consume()
      const entry = memory.bytes(iova, SQE_BYTES)
      if (entry === undefined) {
        this.owner.fail(`SQ ${sq.qid}: no memory at ${hex(iova)} any more`)
        return
      }
      slot.accept(sq, entry)
      clock.schedule(drive.process(link.fetchEntry(clock.now())), slot.begin)
    }
  }

  /** The entry is here: refuses the command, or starts the media on it. */
  begin(command: ServedCommand): void {
    const { clock, link, drive, profile } = this.device
    const nowNs = clock.now()
    if (!this.device.faults.isEmpty) this.strike(command)
    if (command.isAborted) return
    const handler = command.isAdmin() ? undefined : ioHandlers.get(command.sqe.OPC)
    if (command.result === undefined) {
      const { FUSE, PSDT } = command.sqe
      // Neither fused operations nor SGLs are supported, and Identify says so.
      if (FUSE !== 0 || PSDT !== 0) command.refuse(STATUS.INVALID_FIELD_IN_COMMAND)
      else if (!command.isAdmin()) {
        const refusal = handler ? handler.prepare(command, this.device) : STATUS.INVALID_COMMAND_OPCODE
        if (refusal) command.refuse(refusal)
      }
    }
    if (command.result !== undefined) clock.schedule(link.postEntry(nowNs), command.finish)
    else if (handler === undefined) clock.schedule(link.postEntry(nowNs + profile.adminNs), command.finish)
    else {
      const { listBytes } = command.runs
      const listNs = listBytes > 0 ? link.fetch(nowNs, listBytes) : nowNs
      clock.schedule(Math.max(listNs, drive.access(nowNs, handler.kind)), command.transfer)
    }
  }

  /** The media is ready: the data takes its turn on the link and on the drive's data path; the slower one decides. */
  transfer(command: ServedCommand): void {
    const { clock, link, drive } = this.device
    const { lengthBytes } = command
    let endNs = clock.now()
    if (lengthBytes > 0) {
      const kind = command.sqe.OPC === Read.opcode ? 'read' : 'write'
      const driveNs = drive.transfer(endNs, kind, lengthBytes)
      endNs = Math.max(
        driveNs,
        kind === 'read' ? link.sendData(endNs, lengthBytes) : link.receiveData(endNs, lengthBytes),
      )
    }
    clock.schedule(link.postEntry(endNs), command.finish)
  }

  /** Everything has crossed the link: the data becomes visible to the host, and then the completion. */
  finish(command: ServedCommand): void {
    const { clock } = this.device
    const { fault } = command
    if (command.result === undefined) {
      if (command.isAdmin()) this.performAdmin(command)
      else this.performIo(command)
    }
    if (fault?.kind === 'delay-completion') {
      command.fault = undefined
      clock.schedule(clock.now() + fault.delayNs, command.finish)
      return
    }
    if (command.result !== 'held') this.complete(command, command.result!)
    if (command.isAborted) return
    command.isBusy = false
    this.free.push(command)
    if (this.isStarved) this.wake(clock.now())
  }

  private performAdmin(command: ServedCommand): void {
    const result = performAdmin(command, this.device, this)
    if (result === 'held') command.result = result
    else command.refuse(result)
  }

  private performIo(command: ServedCommand): void {
    const { counters, memory, diagnostics } = this.device
    const { fault, lengthBytes, sqe } = command
    const isRead = sqe.OPC === Read.opcode
    try {
      command.result = ioHandlers.get(sqe.OPC)!.perform(command, this.device)
      if (fault?.kind === 'corrupt-data') corruptData(command, fault, memory)
    } catch (error) {
      diagnostics.report(`media of namespace ${sqe.NSID}: ${String(error)}`)
      command.result = isRead ? STATUS.UNRECOVERED_READ_ERROR : STATUS.WRITE_FAULT
    }
    if (command.result !== STATUS.SUCCESS) return
    if (isRead) counters.bytesRead += lengthBytes
    else counters.bytesWritten += lengthBytes
  }

  private complete(command: ServedCommand, status: Ended): void {
    const { counters } = this.device
    const { fault, sqe } = command
    if (fault?.kind === 'drop-completion') return
    const counts = command.isAdmin() ? counters.admin : counters.io
    counts[sqe.OPC]!++
    if (status !== STATUS.SUCCESS) counters.errors++
    const completion = completionOf(command, status)
    this.post(completion)
    if (fault?.kind === 'duplicate-completion') this.post(completion)
  }

  private post(completion: Completion): void {
    const { cq } = completion.sq
    // What is held goes first: completions of one queue never overtake each other here.
    if (cq.held.length > 0 || cq.isFull()) cq.held.push(completion)
    else this.write(cq, completion)
  }

  private write(cq: CompletionQueue, completion: Completion): void {
    if (this.device.memory.has(cq.iova, cq.entries * CQE_BYTES)) cq.post(completion)
    else this.owner.fail(`CQ ${cq.qid}: no memory at ${hex(cq.iova)} any more`)
  }

  /** Finds out which fault strikes a command, and does what happens at once. */
  private strike(command: ServedCommand): void {
    const fault = this.device.faults.strike(targetOf(command))
    command.fault = fault
    if (fault?.kind === 'fatal-status') this.owner.fail('a fault of the plan')
    else if (fault?.kind === 'remove-device') this.owner.remove()
    else if (fault?.kind === 'status') {
      command.result = { ...fault, name: 'by a fault of the plan' }
      command.doNotRetry = fault.dnr ?? false
    }
  }

  private takeSlot(): ServedCommand | undefined {
    const slot = this.free.pop()
    if (slot !== undefined || this.slots.length === this.device.profile.commandSlots) return slot
    const fresh = new ServedCommand(this)
    this.slots.push(fresh)
    return fresh
  }

  /** An event that a reset cancels. */
  private schedule(atNs: number, action: () => void): void {
    const { generation } = this
    this.device.clock.schedule(atNs, () => {
      if (generation === this.generation) action()
    })
  }
}

function completionOf({ sq, sqe, fault, doNotRetry, dw0 }: ServedCommand, { sct, sc }: Ended): Completion {
  const cid = fault?.kind === 'corrupt-cid' ? (sqe.CID ^ fault.xor) & 0xffff : sqe.CID
  return { sq, cid, status: (sc << 1) | (sct << 9) | (doNotRetry ? 0x8000 : 0), dw0 }
}
