import { SQE, STATUS } from '@gpunvme/nvme-spec'
import type { Struck } from '@gpunvme/nvme-spec/faults'
import { adminCommands } from '../admin/admin.js'
import { isPutOff, strikeCommand } from '../faults/command-faults.js'
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

/** The controller, as far as its pipeline calls on it. */
export interface PipelineOwner {
  /** Sets CSTS.CFS; nothing is fetched or posted any more. */
  fail(reason: string): void
  /** Does what a fault of the plan does to the controller itself. */
  suffer(struck: Struck): void
}

/**
 * A command's way through the controller: fetch, begin, transfer, finish. Time passes between the steps; many
 * commands are under way at once, and they end in whatever order the drive gets them done.
 */
export class Pipeline implements Steps, CommandsUnderWay {
  private readonly device: Device
  private readonly owner: PipelineOwner
  private readonly slots: Slots
  private readonly completions: Completions
  private readonly suffer: (struck: Struck) => void
  /** The first half of a fused operation, whose other half is the next entry to be fetched. */
  private fusedFirst: ServedCommand | undefined
  /** Commands whose data and completion wait for the function to be a bus master again. */
  private parked: ServedCommand[] = []
  private isStopped = true
  private isFetchDue = false
  /** Entries may be waiting for a slot. */
  private isStarved = false
  /** Raised by every reset: what was scheduled before it does not happen. */
  private generation = 0
  private fetchLater = this.fetchOf(0)

  constructor(device: Device, owner: PipelineOwner) {
    this.device = device
    this.owner = owner
    this.slots = new Slots(device.profile.commandSlots, this)
    this.completions = new Completions(device, (reason) => owner.fail(reason))
    this.suffer = (struck) => owner.suffer(struck)
    device.events.report = (cid, dw0) => this.answer(cid, dw0)
  }

  start(): void {
    this.isStopped = false
    this.completions.open()
  }

  /** Fetches nothing more; what is under way goes on. */
  stop(): void {
    this.isStopped = true
  }

  /** Forgets every command and posts nothing for it (Base 2.1 §3.7.2). */
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

  /** The function is a bus master again: what had to wait for that goes on. */
  resume(): void {
    const { clock, queues } = this.device
    for (const command of this.parked.splice(0)) clock.schedule(clock.now(), command.finish)
    for (const queue of queues.all()) if (queue instanceof CompletionQueue) this.drain(queue, clock.now())
    this.wake(clock.now())
  }

  /** Slots of the completion queue were released: posts what waits for them. */
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
    // Others on its completion queue may have waited behind what it had posted.
    this.wake(clock.now())
  }

  /** Nothing more is fetched, and no command is left: media may be flushed, and power may go. */
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

  /** I/O commands under way. */
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

  private fetch(): void {
    this.isFetchDue = false
    const { clock, queues, link, drive, memory, trace, health } = this.device
    if (clock.now() >= health.checkAtNs) health.check()
    while (!this.isStopped && this.device.pci.isBusMaster) {
      // The entry behind the first half of a fused operation is fetched with it, whoever else wants to be served.
      const first = this.fusedFirst
      let slot = first === undefined ? this.slots.take() : this.slots.takeAnyway()
      this.isStarved = slot === undefined
      const sq = first !== undefined ? first.sq : this.isStarved ? this.waitingAdmin() : queues.next()
      if (sq === undefined) {
        if (slot !== undefined) this.slots.putBack(slot)
        return
      }
      slot ??= this.slots.takeAnyway()
      // All of it: where a part is gone, the rest may lie elsewhere by now, and is looked up as a whole.
      if (!memory.has(sq.iova, sq.lengthBytes)) {
        this.owner.fail(`SQ ${sq.qid}: no memory at ${hex(sq.iova)} any more, or not all of it`)
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

  /** The Admin queue where it has something: how else could a host get rid of commands that hold every slot. */
  private waitingAdmin(): SubmissionQueue | undefined {
    const admin = this.device.queues.sq(0)
    return admin?.isEligible() ? admin : undefined
  }

  /** The command is carried out none the less: the controller need not notice (Base 2.3 §4.1.1). */
  private reportReuse({ sq, sqe }: ServedCommand): void {
    const cid = hex(sqe.CID)
    this.device.diagnostics.report(
      `host put CID ${cid} into SQ ${sq.qid} while CID ${cid} of SQ ${sq.qid} is in flight`,
    )
  }

  /** What an entry means by its FUSE field, and by that of the entry before it in its queue (Base 2.1 §3.4.2). */
  private fuse(slot: ServedCommand): void {
    const { FIRST, SECOND } = SQE.FUSE
    // The host may give the reserved value too.
    const FUSE: number = slot.sqe.FUSE
    const first = this.fusedFirst
    this.fusedFirst = undefined
    if (FUSE === SECOND && first !== undefined) fuse(first, slot)
    else {
      first?.refuse(STATUS.COMMAND_ABORTED_DUE_TO_MISSING_FUSED_COMMAND)
      // No Admin command is fused, and that is refused where its other fields are.
      if (slot.isAdmin() || FUSE === 0) return
      // Both halves have to come with one write to the doorbell.
      if (FUSE === FIRST && !slot.sq.isEmpty()) this.fusedFirst = slot
      else if (FUSE === FIRST || FUSE === SECOND) slot.refuse(STATUS.COMMAND_ABORTED_DUE_TO_MISSING_FUSED_COMMAND)
      else slot.refuse(STATUS.INVALID_FIELD_IN_COMMAND)
    }
  }

  /** The entry is here: refuses the command, or starts the media on it. */
  begin(command: ServedCommand): void {
    const { clock, link, drive, profile, faults } = this.device
    const nowNs = clock.now()
    this.prepare(command)
    if (faults.strikesCommands && strikeCommand(command, this.device, this.suffer)) return
    const { handler } = command
    if (command.result !== undefined) clock.schedule(link.postEntry(nowNs), command.finish)
    else if (handler === undefined) clock.schedule(link.postEntry(nowNs + profile.adminNs), command.finish)
    else {
      const { listBytes } = command.runs
      const listNs = listBytes > 0 ? link.fetch(nowNs, listBytes) : nowNs
      clock.schedule(Math.max(listNs, drive.access(nowNs, handler.work)), command.transfer)
    }
  }

  /** Refuses a command that cannot be carried out; finds out what an I/O command is. */
  private prepare(command: ServedCommand): void {
    if (command.result !== undefined) return
    const { OPC } = command.sqe
    if (command.isAdmin()) {
      const { FUSE, PSDT } = command.sqe
      // Admin commands of a PCIe controller use PRPs (Base 2.1 §4.1.1), and none is fused.
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

  /** The media is ready: the data takes its turn on the link and on the drive's data path; the slower one decides. */
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

  /** All of it has left the drive: it has a second link to cross, which others use too. */
  reachGpu(command: ServedCommand): void {
    const { clock, link, gpuLink } = this.device
    clock.schedule(link.postEntry(gpuLink!.receive(clock.now(), gpuBytes(command))), command.finish)
  }

  /** What the drive reads for itself, as for Verify, and writes again, as for Copy. */
  private transferInward({ inwardBytes, handler }: ServedCommand): number {
    const { clock, drive } = this.device
    const readNs = drive.transfer(clock.now(), 'read', inwardBytes)
    return handler!.work === 'read' ? readNs : Math.max(readNs, drive.transfer(clock.now(), 'write', inwardBytes))
  }

  /** Everything has crossed the link: the data becomes visible to the host, and then the completion. */
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

  /** Both halves of a fused operation take effect at once, when the second of them is ready. */
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

  /** The command has its result: its completion, and its slot is free for another. */
  private settle(command: ServedCommand): void {
    const { clock, shadow } = this.device
    if (isPutOff(command, this.device, this.completions.late)) return
    if (command.result !== 'held') this.completions.complete(command, command.result!)
    if (command.isAborted) return
    this.slots.putBack(command)
    // Doorbells in the host's memory are looked at while there is work.
    if (this.isStarved || shadow !== undefined) this.wake(clock.now())
  }

  /** Ends commands before their time. */
  private endWhere(isMeant: (slot: ServedCommand) => boolean, status: Ended): void {
    for (const slot of this.slots.busy()) {
      // Ending one may release another that a fault has held.
      if (slot.isBusy && !slot.isAborted && isMeant(slot)) this.end(slot, status)
    }
  }

  /** Ends a command before its time: nothing more of it happens, and its slot is a new one. */
  private end(slot: ServedCommand, status: Ended): void {
    if (slot.partner !== undefined) this.separate(slot, slot.partner)
    if (this.fusedFirst === slot) this.fusedFirst = undefined
    // Before it is posted: that may release a completion that a fault holds, and that may be this command's own.
    this.slots.discard(slot)
    this.completions.abort(slot, status)
    if (this.isStarved) this.wake(this.device.clock.now())
  }

  /** One half of a fused operation is gone: what becomes of the other. */
  private separate(half: ServedCommand, other: ServedCommand): void {
    const { clock } = this.device
    half.partner = undefined
    other.partner = undefined
    if (half.sqe.FUSE === SQE.FUSE.FIRST) other.result ??= STATUS.COMMAND_ABORTED_DUE_TO_FAILED_FUSED_COMMAND
    if (other.isWaiting) clock.schedule(clock.now(), other.finish)
  }

  /** Fetches, unless a reset came between: made once for each generation, so that ringing costs no closure. */
  private fetchOf(generation: number): () => void {
    return () => {
      if (generation === this.generation) this.fetch()
    }
  }
}

/** How many bytes of a command's data lie in GPU memory. */
function gpuBytes({ runs }: ServedCommand): number {
  let bytes = 0
  for (let run = 0; run < runs.count; run++) if (runs.iova[run]! >= FIRST_GPU_IOVA) bytes += runs.lengthBytes[run]!
  return bytes
}
