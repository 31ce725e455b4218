import { SQE, STATUS } from '@gpunvme/nvme-spec'
import type { MatchedFaults } from '@gpunvme/nvme-spec/faults'
import { adminCommands } from '../admin/admin.js'
import { deferCompletion, applyCommandFaults } from '../faults/command-faults.js'
import { fuse } from '../nvm/fused.js'
import type { Namespace } from '../nvm/namespace.js'
import { ioCommands } from '../nvm/nvm.js'
import { CompletionQueue, type SubmissionQueue } from '../queues/queue.js'
import type { CommandsUnderWay, Ended, ServedCommand, Steps } from './command.js'
import { Completions } from './completions.js'
import { FIRST_GPU_IOVA } from '../gpu/simulated-gpu.js'
import type { Device } from './device.js'
import { hex } from './diagnostics.js'
import { inOrder, perform, performFused } from './perform.js'
import { Slots } from './slots.js'

/** The part of the controller that its pipeline calls. */
export interface PipelineOwner {
  /** Sets CSTS.CFS; fetching and posting stop. */
  fail(reason: string): void
  /** Applies faults of the plan to the controller itself. */
  applyFaults(matched: MatchedFaults): void
}

/**
 * The stages of a command in the controller: fetch, begin, transfer, finish. Time passes between them. Many commands
 * are in progress at once and complete in any order.
 */
export class Pipeline implements Steps, CommandsUnderWay {
  private readonly device: Device
  private readonly owner: PipelineOwner
  private readonly slots: Slots
  private readonly completions: Completions
  private readonly applyFaults: (matched: MatchedFaults) => void
  /** The first half of a fused operation; its other half is the next entry to be fetched. */
  private fusedFirst: ServedCommand | undefined
  /** Commands whose data and completion wait for bus mastering. */
  private parked: ServedCommand[] = []
  private isStopped = true
  private isFetchDue = false
  /** Entries may be waiting for a slot. */
  private isStarved = false
  /** Incremented by every reset: events scheduled before it have no effect. */
  private generation = 0
  private fetchLater = this.fetchOf(0)

  constructor(device: Device, owner: PipelineOwner) {
    this.device = device
    this.owner = owner
    this.slots = new Slots(device.profile.commandSlots, this)
    this.completions = new Completions(device, (reason) => owner.fail(reason))
    this.applyFaults = (matched) => owner.applyFaults(matched)
    device.events.report = (cid, dw0) => this.answer(cid, dw0)
  }

  start(): void {
    this.isStopped = false
    this.completions.open()
  }

  /** Stops fetching; commands in progress continue. */
  stop(): void {
    this.isStopped = true
  }

  /** Drops all commands without posting completions (Base 2.1 §3.7.2). */
  reset(): void {
    this.stop()
    this.slots.clear()
    this.fusedFirst = undefined
    this.parked = []
    this.isFetchDue = false
    this.isStarved = false
    this.completions.close()
    this.generation++
    this.fetchLater = this.fetchOf(this.generation)
  }

  /** There may be entries to fetch at `atNs`. */
  wake(atNs: number): void {
    if (this.isFetchDue || this.isStopped) return
    this.isFetchDue = true
    this.device.clock.schedule(atNs, this.fetchLater)
  }

  /** The function is a bus master again: waiting commands continue. */
  resume(): void {
    const { clock, queues } = this.device
    for (const command of this.parked.splice(0)) clock.schedule(clock.now(), command.finish)
    for (const queue of queues.all()) if (queue instanceof CompletionQueue) this.drain(queue, clock.now())
    this.wake(clock.now())
  }

  /** Slots of the completion queue were released: posts completions that wait for them. */
  drain(cq: CompletionQueue, atNs: number): void {
    if (cq.held.length === 0) return
    const { generation } = this
    const { clock } = this.device
    clock.schedule(atNs, () => {
      if (generation !== this.generation) return
      this.completions.drain(cq)
      this.wake(clock.now())
    })
  }

  deleteSq(sq: SubmissionQueue): void {
    const { queues, clock } = this.device
    this.endWhere((slot) => slot.sq === sq, STATUS.COMMAND_ABORTED_DUE_TO_SQ_DELETION)
    queues.removeSq(sq)
    // Submission queues of this completion queue may have waited for the held completions.
    this.wake(clock.now())
  }

  /** Fetching has stopped and no command is left: media may be flushed, and power may go off. */
  conclude(): void {
    this.stop()
    this.endWhere(() => true, STATUS.COMMANDS_ABORTED_DUE_TO_POWER_LOSS_NOTIFICATION)
  }

  abort(sqid: number, cid: number, by: ServedCommand): boolean {
    const slot = this.slots.busy().find((each) => each !== by && each.sq.qid === sqid && each.sqe.CID === cid)
    if (slot === undefined) return false
    this.end(slot, STATUS.COMMAND_ABORT_REQUESTED)
    return true
  }

  countAdmin(opcode: number): number {
    const isCounted = ({ hasBegun, result, sqe }: ServedCommand) =>
      hasBegun && result === undefined && sqe.OPC === opcode
    return this.slots.busy().filter(isCounted).length
  }

  /** I/O commands in progress. */
  countIo(): number {
    return this.slots.busy().filter((slot) => !slot.isAdmin()).length
  }

  isUsing(namespace: Namespace): boolean {
    return this.slots.busy().some((slot) => slot.namespace === namespace)
  }

  endAll(namespace: Namespace): void {
    this.endWhere((slot) => slot.namespace === namespace, STATUS.INVALID_FIELD_IN_COMMAND)
  }

  answer(cid: number, dw0: number, status: Ended = STATUS.SUCCESS): void {
    this.completions.answer(cid, dw0, status)
  }

  /** Posts a completion once more; returns false if it is no longer, or not yet, in the completion queue. */
  repeat(qid: number, back: number): boolean {
    return this.completions.repeat(qid, back)
  }

  private fetch(): void {
    this.isFetchDue = false
    const { clock, queues, link, drive, memory, trace, health } = this.device
    if (clock.now() >= health.checkAtNs) health.check()
    while (!this.isStopped && this.device.pci.isBusMaster) {
      // After the first half of a fused operation, the next entry of its queue is fetched, before those of other
      // queues.
      const first = this.fusedFirst
      let slot = first === undefined ? this.slots.take() : this.slots.allocateOverflow()
      this.isStarved = slot === undefined
      const sq = first !== undefined ? first.sq : this.isStarved ? this.waitingAdmin() : queues.next()
      if (sq === undefined) {
        if (slot !== undefined) this.slots.putBack(slot)
        return
      }
      slot ??= this.slots.allocateOverflow()
      // The whole queue: if a part is gone, the rest may have moved, and is looked up as a whole.
      if (!memory.has(sq.iova, sq.lengthBytes)) {
        this.owner.fail(`SQ ${sq.qid}: its memory at ${hex(sq.iova)} is no longer mapped`)
        return
      }
      slot.accept(sq, clock.now())
      if (!sq.inFlight.begin(slot.sqe.CID)) this.reportReuse(slot)
      if (!slot.isAdmin()) health.busy.begin(clock.now())
      trace.fetch(sq.qid, slot.data)
      if (first !== undefined || slot.sqe.FUSE !== 0) this.fuse(slot)
      clock.schedule(drive.process(link.fetchEntry(clock.now())), slot.begin)
    }
  }

  /** The Admin queue, if it has entries: otherwise a host could not abort commands that occupy all slots. */
  private waitingAdmin(): SubmissionQueue | undefined {
    const admin = this.device.queues.sq(0)
    return admin?.isEligible() ? admin : undefined
  }

  /** The command is executed nevertheless: the controller need not detect it (Base 2.3 §4.1.1). */
  private reportReuse({ sq, sqe }: ServedCommand): void {
    const cid = hex(sqe.CID)
    this.device.diagnostics.report(
      'command-identifier',
      `host put CID ${cid} into SQ ${sq.qid} while CID ${cid} of SQ ${sq.qid} is in flight`,
    )
  }

  /** Interprets the FUSE field of an entry, together with that of the previous entry in its queue (Base 2.1 §3.4.2). */
  private fuse(slot: ServedCommand): void {
    const { FIRST, SECOND } = SQE.FUSE
    // The host may use the reserved value too.
    const FUSE: number = slot.sqe.FUSE
    const first = this.fusedFirst
    this.fusedFirst = undefined
    if (FUSE === SECOND && first !== undefined) fuse(first, slot)
    else {
      first?.refuse(STATUS.COMMAND_ABORTED_DUE_TO_MISSING_FUSED_COMMAND)
      // Fused Admin commands are rejected with the other fields.
      if (slot.isAdmin() || FUSE === 0) return
      // Both halves must be submitted with one doorbell write.
      if (FUSE === FIRST && !slot.sq.isEmpty()) this.fusedFirst = slot
      else if (FUSE === FIRST || FUSE === SECOND) slot.refuse(STATUS.COMMAND_ABORTED_DUE_TO_MISSING_FUSED_COMMAND)
      else slot.refuse(STATUS.INVALID_FIELD_IN_COMMAND)
    }
  }

  /** The entry has arrived: rejects the command, or starts the media access. */
  begin(command: ServedCommand): void {
    const { clock, link, drive, profile, faults } = this.device
    const nowNs = clock.now()
    this.prepare(command)
    if (faults.affectsCommands && applyCommandFaults(command, this.device, this.applyFaults)) return
    const { handler } = command
    if (command.result !== undefined) clock.schedule(link.postEntry(nowNs), command.finish)
    else if (handler === undefined) clock.schedule(link.postEntry(nowNs + profile.adminNs), command.finish)
    else {
      const { listBytes } = command.runs
      const listNs = listBytes > 0 ? link.fetch(nowNs, listBytes) : nowNs
      clock.schedule(Math.max(listNs, drive.access(nowNs, handler.work)), command.transfer)
    }
  }

  /** Rejects an invalid command; determines the handler of an I/O command. */
  private prepare(command: ServedCommand): void {
    if (command.result !== undefined) return
    const { OPC } = command.sqe
    if (command.isAdmin()) {
      const { FUSE, PSDT } = command.sqe
      // Admin commands of a PCIe controller use PRPs (Base 2.1 §4.1.1), and cannot be fused.
      if (FUSE !== 0 || PSDT !== 0) {
        command.refuse(STATUS.INVALID_FIELD_IN_COMMAND)
        return
      }
      command.hasBegun = true
      const refusal = adminCommands.get(OPC)?.prepare?.(command, this.device, this)
      if (refusal) command.refuse(refusal)
    } else {
      const handler = ioCommands[OPC]
      command.handler = handler
      const refusal = handler ? handler.prepare(command, this.device) : STATUS.INVALID_COMMAND_OPCODE
      if (refusal) command.refuse(refusal)
    }
  }

  /** The media is ready: the data use the link and the drive's data path; the slower one determines the time. */
  transfer(command: ServedCommand): void {
    const { clock, link, drive, gpuLink } = this.device
    const { lengthBytes, inwardBytes, handler } = command
    let endNs = clock.now()
    if (inwardBytes > 0) endNs = this.transferInward(command)
    if (lengthBytes > 0) {
      const toHost = handler!.direction === 'to-host'
      const driveNs = drive.transfer(endNs, handler!.work === 'read' ? 'read' : 'write', lengthBytes)
      endNs = Math.max(driveNs, toHost ? link.sendData(endNs, lengthBytes) : link.receiveData(endNs, lengthBytes))
      if (toHost && gpuLink !== undefined && gpuBytes(command) > 0) {
        clock.schedule(endNs, command.reachGpu)
        return
      }
    }
    clock.schedule(link.postEntry(endNs), command.finish)
  }

  /** All data have left the drive and cross a second, shared link. */
  reachGpu(command: ServedCommand): void {
    const { clock, link, gpuLink } = this.device
    clock.schedule(link.postEntry(gpuLink!.receive(clock.now(), gpuBytes(command))), command.finish)
  }

  /** Transfers inside the drive: reads without sending, as for Verify, and writes back, as for Copy. */
  private transferInward({ inwardBytes, handler }: ServedCommand): number {
    const { clock, drive } = this.device
    const readNs = drive.transfer(clock.now(), 'read', inwardBytes)
    return handler!.work === 'read' ? readNs : Math.max(readNs, drive.transfer(clock.now(), 'write', inwardBytes))
  }

  /** Everything has crossed the link: the data become visible to the host, then the completion. */
  finish(command: ServedCommand): void {
    if (!this.device.pci.isBusMaster) {
      this.parked.push(command)
      return
    }
    if (command.partner !== undefined) {
      this.finishFused(command, command.partner)
      return
    }
    perform(command, this.device, this)
    if (command.result !== undefined) this.settle(command)
    else this.device.clock.schedule(this.device.clock.now(), command.finish)
  }

  /** Both halves of a fused operation take effect together, when the second one is ready. */
  private finishFused(command: ServedCommand, partner: ServedCommand): void {
    command.isWaiting = true
    if (!partner.isWaiting) return
    const [first, second] = inOrder(command, partner)
    first.partner = undefined
    second.partner = undefined
    performFused(first, second, this.device)
    this.settle(first)
    this.settle(second)
  }

  /** The command has its result: posts its completion and releases its slot. */
  private settle(command: ServedCommand): void {
    const { clock, shadow } = this.device
    if (deferCompletion(command, this.device, this.completions.late)) return
    if (command.result !== 'held') this.completions.complete(command, command.result!)
    if (command.isAborted) return
    this.slots.putBack(command)
    // Doorbells in host memory are polled while there is work.
    if (this.isStarved || shadow !== undefined) this.wake(clock.now())
  }

  /** Ends commands early. */
  private endWhere(isMeant: (slot: ServedCommand) => boolean, status: Ended): void {
    for (const slot of this.slots.busy()) {
      // Ending one command may release another that a fault has held.
      if (slot.isBusy && !slot.isAborted && isMeant(slot)) this.end(slot, status)
    }
  }

  /** Ends a command early: its remaining steps have no effect, and its slot is replaced. */
  private end(slot: ServedCommand, status: Ended): void {
    if (slot.partner !== undefined) this.separate(slot, slot.partner)
    if (this.fusedFirst === slot) this.fusedFirst = undefined
    // Before posting: that may release a completion that a fault holds, possibly of this command.
    this.slots.discard(slot)
    this.completions.abort(slot, status)
    if (this.isStarved) this.wake(this.device.clock.now())
  }

  /** Handles the loss of one half of a fused operation for the other half. */
  private separate(half: ServedCommand, other: ServedCommand): void {
    const { clock } = this.device
    half.partner = undefined
    other.partner = undefined
    if (half.sqe.FUSE === SQE.FUSE.FIRST) other.result ??= STATUS.COMMAND_ABORTED_DUE_TO_FAILED_FUSED_COMMAND
    if (other.isWaiting) clock.schedule(clock.now(), other.finish)
  }

  /**
   * Returns a function that fetches unless a reset occurred. Created once per generation, so that doorbells allocate no
   * closure.
   */
  private fetchOf(generation: number): () => void {
    return () => {
      if (generation === this.generation) this.fetch()
    }
  }
}

/** Returns the number of data bytes of a command in GPU memory. */
function gpuBytes({ runs }: ServedCommand): number {
  let bytes = 0
  for (let run = 0; run < runs.count; run++) if (runs.iova[run]! >= FIRST_GPU_IOVA) bytes += runs.lengthBytes[run]!
  return bytes
}
