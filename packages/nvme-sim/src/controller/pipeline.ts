import { CQE, Read, SQE, STATUS, Write } from '@gpunvme/nvme-spec'
import { adminCommands, performAdmin } from '../admin/admin.js'
import { cqeDamage, damagedCid, LateCompletions, statusByPlan } from '../faults/completion-faults.js'
import { corruptAnswer, performDamaged } from '../faults/damage.js'
import type { Struck } from '../faults/struck.js'
import { fuse, fusedMistake } from '../nvm/fused.js'
import type { Namespace } from '../nvm/namespace.js'
import { ioCommands } from '../nvm/nvm.js'
import { CompletionQueue, CQE_BYTES, SQE_BYTES, type Completion, type SubmissionQueue } from '../queues/queue.js'
import { ServedCommand, type CommandsUnderWay, type Ended, type Steps } from './command.js'
import type { Device } from './device.js'
import { hex } from './diagnostics.js'

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
  private slots: ServedCommand[] = []
  private free: ServedCommand[] = []
  /** The completion that is being posted: one object for all of them, copied where it has to wait. */
  private readonly completion: Completion = {
    sq: undefined as unknown as SubmissionQueue,
    cid: 0,
    status: 0,
    dw0: 0,
    dw1: 0,
    fetchedNs: 0,
    damage: undefined,
  }
  /** Completions that a fault holds until others have gone by. */
  private readonly late = new LateCompletions()
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
    device.events.report = (cid, dw0) => this.answer(cid, dw0)
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
    this.fusedFirst = undefined
    this.parked = []
    this.isFetchDue = false
    this.isStarved = false
    this.late.clear()
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
    const { clock, pci } = this.device
    clock.schedule(atNs, () => {
      if (generation !== this.generation) return
      while (cq.held.length > 0 && !cq.isFull() && pci.isBusMaster) this.write(cq, cq.held.shift()!)
      this.wake(clock.now())
    })
  }

  /** Ends every command of a queue that is being deleted (Base 2.1 §5.2.4). */
  abortAll(sq: SubmissionQueue): void {
    for (const slot of [...this.slots]) {
      if (slot.sq === sq && slot.isBusy) this.end(slot, STATUS.COMMAND_ABORTED_DUE_TO_SQ_DELETION)
    }
  }

  abort(sqid: number, cid: number, by: ServedCommand): boolean {
    const isMeant = (slot: ServedCommand) => slot.isBusy && slot.sq.qid === sqid && slot.sqe.CID === cid
    const slot = this.slots.find((each) => each !== by && isMeant(each))
    if (slot === undefined) return false
    this.end(slot, STATUS.COMMAND_ABORT_REQUESTED)
    return true
  }

  countAdmin(opcode: number): number {
    return this.slots.filter(
      (slot) => slot.isBusy && slot.hasBegun && slot.result === undefined && slot.sqe.OPC === opcode,
    ).length
  }

  isUsing(namespace: Namespace): boolean {
    return this.slots.some((slot) => slot.isBusy && slot.namespace === namespace)
  }

  endAll(namespace: Namespace): void {
    for (const slot of [...this.slots]) {
      if (slot.isBusy && slot.namespace === namespace) this.end(slot, STATUS.INVALID_FIELD_IN_COMMAND)
    }
  }

  answer(cid: number, dw0: number, status: Ended = STATUS.SUCCESS): void {
    const sq = this.device.queues.sq(0)
    if (sq === undefined) return
    this.post(this.fill(sq, cid, statusBits(status, false), dw0, 0, this.device.clock.now()))
  }

  private fetch(): void {
    this.isFetchDue = false
    const { clock, queues, link, drive, memory, trace, health } = this.device
    if (clock.now() >= health.checkAtNs) health.check()
    while (!this.isStopped && this.device.pci.isBusMaster) {
      // The entry behind the first half of a fused operation is fetched with it, whoever else wants to be served.
      const first = this.fusedFirst
      const slot = first === undefined ? this.takeSlot() : (this.free.pop() ?? this.addSlot())
      this.isStarved = slot === undefined
      if (slot === undefined) return
      const sq = first === undefined ? queues.next() : first.sq
      if (sq === undefined) {
        this.free.push(slot)
        return
      }
      if (!memory.has(sq.headIova, SQE_BYTES)) {
        this.owner.fail(`SQ ${sq.qid}: no memory at ${hex(sq.headIova)} any more`)
        return
      }
      slot.accept(sq, clock.now())
      if (!slot.isAdmin()) health.busy.begin(clock.now())
      trace.fetch(sq.qid, slot.data)
      if (first !== undefined || slot.sqe.FUSE !== 0) this.fuse(slot)
      clock.schedule(drive.process(link.fetchEntry(clock.now())), slot.begin)
    }
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
    if (faults.strikesCommands && this.isStruckDown(command)) return
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
    const { clock, link, drive } = this.device
    const { lengthBytes, inwardBytes, handler } = command
    let endNs = clock.now()
    if (inwardBytes > 0) endNs = this.transferInward(command)
    if (lengthBytes > 0) {
      const toHost = handler!.direction === 'to-host'
      const driveNs = drive.transfer(endNs, handler!.work === 'read' ? 'read' : 'write', lengthBytes)
      endNs = Math.max(driveNs, toHost ? link.sendData(endNs, lengthBytes) : link.receiveData(endNs, lengthBytes))
    }
    clock.schedule(link.postEntry(endNs), command.finish)
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
    if (command.result === undefined) {
      if (command.isAdmin()) this.performAdmin(command)
      else this.performIo(command)
    }
    this.conclude(command)
  }

  /** Both halves of a fused operation take effect at once, when the second of them is ready. */
  private finishFused(command: ServedCommand, partner: ServedCommand): void {
    command.isWaiting = true
    if (!partner.isWaiting) return
    const [first, second] = command.sqe.FUSE === SQE.FUSE.FIRST ? [command, partner] : [partner, command]
    first.partner = undefined
    second.partner = undefined
    const mistake = fusedMistake(first, second)
    if (mistake) {
      first.refuse(mistake)
      second.refuse(mistake)
    }
    if (first.result === undefined) this.performIo(first)
    // The Compare's completion says nothing of the Write's failure (NVM 1.2 §2.1.3.1).
    if (first.result !== STATUS.SUCCESS && !mistake) second.result = STATUS.COMMAND_ABORTED_DUE_TO_FAILED_FUSED_COMMAND
    else if (second.result === undefined) this.performIo(second)
    this.conclude(first)
    this.conclude(second)
  }

  /** The command has its result: its completion, and its slot is free for another. */
  private conclude(command: ServedCommand): void {
    const { clock, shadow } = this.device
    if (command.struck !== undefined && this.isPutOff(command)) return
    if (command.result !== 'held') this.complete(command, command.result!)
    if (command.isAborted) return
    command.isBusy = false
    this.free.push(command)
    // Doorbells in the host's memory are looked at while there is work.
    if (this.isStarved || shadow !== undefined) this.wake(clock.now())
  }

  private performAdmin(command: ServedCommand): void {
    const result = performAdmin(command, this.device, this)
    if (result === 'held') command.result = result
    else command.refuse(result)
    if (command.struck !== undefined) corruptAnswer(command, command.struck, this.device)
  }

  private performIo(command: ServedCommand): void {
    const { counters, diagnostics, trace, features } = this.device
    const { struck, lengthBytes, sqe, handler, runs, metadataRuns } = command
    try {
      if (struck === undefined) command.result = handler!.perform(command, this.device)
      else {
        performDamaged(command, struck, this.device, () => {
          command.result = handler!.perform(command, this.device)
        })
      }
      // Without a cache what a command has changed is on the medium when it completes (Base 2.3 §5.2.26.1.4).
      const isDone = command.result === STATUS.SUCCESS
      if (!features.volatileWriteCache && isDone && handler!.effects?.LBCC === 1) command.namespace!.media.flush()
    } catch (error) {
      diagnostics.report(`media of namespace ${sqe.NSID}: ${String(error)}`)
      command.result = handler!.work === 'read' ? STATUS.UNRECOVERED_READ_ERROR : STATUS.WRITE_FAULT
    }
    if (command.result !== STATUS.SUCCESS) return
    if (command.namespace) counters.ioBytes[sqe.OPC]! += command.blocks * command.namespace.blockBytes
    if (lengthBytes === 0) return
    const { direction } = handler!
    if (direction === 'none') return
    for (let i = 0; i < runs.count; i++) {
      if (!runs.isDiscarded(i)) trace.data(direction, runs.iova[i]!, runs.lengthBytes[i]!)
    }
    for (let i = 0; i < metadataRuns.count; i++)
      trace.data(direction, metadataRuns.iova[i]!, metadataRuns.lengthBytes[i]!)
    if (sqe.OPC === Read.opcode) counters.bytesRead += lengthBytes
    else if (sqe.OPC === Write.opcode) counters.bytesWritten += lengthBytes
  }

  private complete(command: ServedCommand, status: Ended): void {
    const { counters, faults } = this.device
    const { struck, sqe, sq, doNotRetry, dw0, dw1, fetchedNs } = command
    if (!command.isAdmin()) this.device.health.busy.end(this.device.clock.now())
    if (struck?.has('drop-completion')) {
      faults.happened(struck, 'drop-completion')
      return
    }
    const counts = command.isAdmin() ? counters.admin : counters.io
    counts[sqe.OPC]!++
    if (status !== STATUS.SUCCESS) this.logError(command, status)
    if (struck !== undefined) {
      this.completeStruck(command, status, struck)
      return
    }
    this.post(this.fill(sq, sqe.CID, statusBits(status, doNotRetry) | command.more, dw0, dw1, fetchedNs))
  }

  /** Enters an error in the log, and notes whether that says more than the completion does. */
  private logError(command: ServedCommand, status: Ended): void {
    const { counters, errors, health } = this.device
    counters.errors++
    health.failed(status)
    if (errors.addCommand(command, status, statusBits(status, command.doNotRetry))) command.more = MORE
  }

  /** Ends a command before its time: nothing more of it happens, and its slot is a new one. */
  private end(slot: ServedCommand, status: Ended): void {
    const { sq, sqe, fetchedNs, partner } = slot
    if (partner !== undefined) this.separate(slot, partner)
    if (this.fusedFirst === slot) this.fusedFirst = undefined
    if (!slot.isAdmin()) this.device.health.busy.end(this.device.clock.now())
    // Before it is posted: that may release a completion that a fault holds, and that may be this command's own.
    slot.isAborted = true
    this.post(this.fill(sq, sqe.CID, statusBits(status, false), 0, 0, fetchedNs))
    this.slots = this.slots.filter((other) => other !== slot)
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

  private fill(sq: SubmissionQueue, cid: number, status: number, dw0: number, dw1: number, fetchedNs: number) {
    const { completion } = this
    completion.sq = sq
    completion.cid = cid
    completion.status = status
    completion.dw0 = dw0
    completion.dw1 = dw1
    completion.fetchedNs = fetchedNs
    completion.damage = undefined
    return completion
  }

  private post(completion: Completion): void {
    const { cq } = completion.sq
    // What is held goes first: completions of one queue never overtake each other here.
    if (cq.held.length > 0 || cq.isFull() || !this.device.pci.isBusMaster) cq.held.push({ ...completion })
    else this.write(cq, completion)
  }

  private write(cq: CompletionQueue, completion: Completion): void {
    const { memory, trace, interrupts } = this.device
    if (!memory.has(cq.iova, cq.entries * CQE_BYTES)) {
      this.owner.fail(`CQ ${cq.qid}: no memory at ${hex(cq.iova)} any more`)
      return
    }
    const index = cq.post(completion)
    trace.post(cq.qid, cq.ring, index * CQE.bytes, completion.fetchedNs)
    if (cq.vector !== undefined) interrupts.posted(cq.vector, cq, (completion.status & STATUS_CODE) !== 0)
    if (!this.late.isEmpty) this.late.posted(cq)
  }

  /** Finds out which faults strike a command, and does what happens at once. True where it ends here. */
  private isStruckDown(command: ServedCommand): boolean {
    const { faults, pageBytes } = this.device
    const struck = faults.strikeCommand(command, pageBytes)
    if (struck === undefined) return false
    command.struck = struck
    this.owner.suffer(struck)
    if (command.isAborted) return true
    const status = struck.get('status')
    if (status) {
      command.result = statusByPlan(status)
      command.doNotRetry = status.dnr ?? false
      faults.happened(struck, 'status')
    }
    if (!struck.has('hang')) return false
    faults.happened(struck, 'hang')
    return true
  }

  /** Whether a fault holds the completion back; it is finished again when it may go. */
  private isPutOff(command: ServedCommand): boolean {
    const { clock, faults } = this.device
    const struck = command.struck!
    if (command.result === 'held') return false
    const delay = struck.get('delay-completion')
    const reorder = struck.get('reorder-completion')
    if (delay) {
      faults.happened(struck, 'delay-completion')
      struck.remove('delay-completion')
      clock.schedule(clock.now() + delay.delayNs, command.finish)
    } else if (reorder) {
      faults.happened(struck, 'reorder-completion')
      struck.remove('reorder-completion')
      clock.schedule(clock.now() + reorder.atMostNs, this.late.hold(command, reorder.behind))
    }
    return delay !== undefined || reorder !== undefined
  }

  private completeStruck(command: ServedCommand, status: Ended, struck: Struck): void {
    const { faults } = this.device
    const { sq, sqe, doNotRetry, dw0, dw1, fetchedNs } = command
    const byPlan = struck.get('status')
    const retry = byPlan ? ((byPlan.crd ?? 0) << 12) | (byPlan.more ? 0x4000 : 0) : 0
    const cid = damagedCid(sqe.CID, struck)
    // A copy: posting it may release another completion before it is posted again.
    const completion = {
      ...this.fill(sq, cid, statusBits(status, doNotRetry) | command.more | retry, dw0, dw1, fetchedNs),
    }
    completion.damage = cqeDamage(struck)
    for (const kind of ['corrupt-cid', 'corrupt-sqhd', 'corrupt-sqid', 'corrupt-phase'] as const) {
      faults.happened(struck, kind)
    }
    this.post(completion)
    if (!struck.has('duplicate-completion')) return
    faults.happened(struck, 'duplicate-completion')
    this.post(completion)
  }

  private takeSlot(): ServedCommand | undefined {
    const slot = this.free.pop()
    return slot !== undefined || this.slots.length >= this.device.profile.commandSlots ? slot : this.addSlot()
  }

  private addSlot(): ServedCommand {
    const fresh = new ServedCommand(this)
    this.slots.push(fresh)
    return fresh
  }

  /** Fetches, unless a reset came between: made once for each generation, so that ringing costs no closure. */
  private fetchOf(generation: number): () => void {
    return () => {
      if (generation === this.generation) this.fetch()
    }
  }
}

/** The More bit in the upper half of CQE DW3. */
const MORE = 1 << CQE.STATUS.M.lsb

/** Status Code and Status Code Type in the upper half of CQE DW3. */
const STATUS_CODE = 0x0ffe

/** The upper half of CQE DW3 without its Phase Tag. */
function statusBits({ sct, sc }: Ended, doNotRetry: boolean): number {
  return (sc << 1) | (sct << 9) | (doNotRetry ? 0x8000 : 0)
}
