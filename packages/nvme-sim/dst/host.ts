import type { Transport } from '@gpunvme/nvme-spec/transport'
import type { Completion, Entry } from '../conformance/raw-host/entry.js'
import type { Simulation } from '../src/index.js'
import { Buffers } from './buffers.js'
import { EventChecks } from './check-admin.js'
import { checkFields, checkStatus } from './check-completion.js'
import { FusedChecks } from './check-fused.js'
import { Doorbells } from './doorbells.js'
import { DAMAGING, Ledger } from './ledger.js'
import { Medium } from './medium.js'
import { beginChange, dataBytesOf, entryOf, fillData, fitOrder, placementOf, statusesOf } from './orders.js'
import type { Region } from './region.js'
import { CqRing, SqRing } from './rings.js'
import type { AdminOperation, FusedOrder, IoOrder, Scenario } from './scenario.js'
import { Spaces } from './spaces.js'
import type { Submitted } from './submitted.js'
import { Verdicts } from './verdicts.js'

const ADMIN_DATA_BYTES = 4096
/** FUSE of the halves of a fused operation. */
const FUSE = { first: 1, second: 2 } as const

/** The host of one controller: its rings, commands, namespaces and memory. */
export class Host {
  readonly transport: Transport
  readonly buffers: Buffers
  readonly medium = new Medium()
  readonly spaces: Spaces
  readonly ledger = new Ledger()
  readonly doorbells: Doorbells
  readonly fused = new FusedChecks(this.medium)
  readonly cqs = new Map<number, CqRing>()
  readonly sqs = new Map<number, SqRing>()
  /** ONCS of Identify Controller. */
  optionalCommands = 0
  readonly verdicts: Verdicts
  /** Number of times that faults have changed a namespace. */
  namespaceFaults = 0
  private readonly simulation: Simulation
  private readonly scenario: Scenario
  private readonly regions: Region[] = []
  private injectedSeen = 0

  constructor(simulation: Simulation, scenario: Scenario) {
    this.simulation = simulation
    this.transport = simulation.transport
    this.scenario = scenario
    this.buffers = new Buffers(this.transport.dma)
    this.spaces = new Spaces(scenario.namespaces)
    this.doorbells = new Doorbells(this.transport.bar)
    const { medium, buffers, fused } = this
    const events = new EventChecks(scenario.faults, simulation.faults)
    this.verdicts = new Verdicts({ medium, buffers, fused, events })
  }

  get nowNs(): number {
    return this.transport.clock.now()
  }

  get submitted(): number {
    return this.ledger.submitted
  }

  get completed(): number {
    return this.ledger.completed
  }

  /** Whether the fault plan changes namespaces, as another host might. */
  get mayChangeNamespaces(): boolean {
    return this.scenario.faults.rules.some(({ action }) => 'nsid' in action)
  }

  /** Returns the outstanding commands of a queue. */
  outOn(qid: number): readonly Submitted[] {
    return this.ledger.outOn(qid)
  }

  /** Commands with outstanding completions that the host must wait for. */
  get unsettled(): readonly Submitted[] {
    this.absorbStrikes()
    return this.ledger.outstanding.filter((each) => !each.isSettled)
  }

  async pass(ns: number): Promise<void> {
    const endNs = this.nowNs + ns
    while (this.nowNs < endNs) await this.transport.clock.idle(endNs)
  }

  addCq(qid: number, entries: number): CqRing {
    const ring = new CqRing(this.transport.dma, qid, entries)
    this.keep(ring.memory)
    this.cqs.set(qid, ring)
    this.doorbells.clear(qid, false)
    return ring
  }

  addSq(qid: number, entries: number, cqid: number): SqRing {
    const ring = new SqRing(this.transport.dma, qid, entries, this.cqs.get(cqid)!)
    this.keep(ring.memory)
    this.sqs.set(qid, ring)
    this.doorbells.clear(qid, true)
    return ring
  }

  /** Registers memory that `checkMemory` checks until the end of the run. */
  keep(memory: Region): void {
    this.regions.push(memory)
  }

  /** Rings the doorbell if entries are staged; otherwise, a write would be a mistake (Base 2.1 §5.1.2.1). */
  ringTail(qid: number, isForced = false): void {
    const sq = this.sqs.get(qid)
    if (sq && !sq.isHalted && (sq.hasNews || isForced)) sq.ring(this.doorbells, isForced)
  }

  ringHead(cqid: number, isForced = false): void {
    const cq = this.cqs.get(cqid)
    if (cq && !cq.isClosing && (cq.hasNews || isForced)) cq.ring(this.doorbells, isForced)
  }

  /** Writes all doorbells with new values; if forced, all of them, as a driver might after a time-out. */
  ringAll(isForced = false): void {
    for (const qid of this.sqs.keys()) this.ringTail(qid, isForced)
    for (const cqid of this.cqs.keys()) this.ringHead(cqid, isForced)
  }

  /** Submits an I/O command; undefined if its queue is full or its namespace does not exist. */
  submitIo(qid: number, order: IoOrder): Submitted | undefined {
    const sq = this.sqs.get(qid)
    if (sq === undefined || sq.isHalted || this.ledger.freeSlots(sq) < 1) return undefined
    this.absorbStrikes()
    return this.stage(sq, order)
  }

  /** Submits a fused operation: stages its halves consecutively, and rings once. */
  submitFused(qid: number, { compare, write, flaw }: FusedOrder): void {
    const sq = this.sqs.get(qid)
    if (sq === undefined || sq.isHalted || this.ledger.freeSlots(sq) < 2) return
    this.absorbStrikes()
    const isWhole = flaw === undefined || flaw === 'ranges'
    const first = this.stage(sq, compare, flaw === 'no-first' ? undefined : 'first')
    const second = first && this.stage(sq, write, flaw === 'no-second' ? undefined : 'second')
    if (first === undefined || second === undefined) return
    if (isWhole) {
      first.partner = second
      second.partner = first
      const mistake = flaw === 'ranges' ? ['0/02'] : []
      first.statuses = [...first.statuses, ...mistake]
      second.statuses = [...second.statuses, '0/09', ...mistake]
    } else (flaw === 'no-second' ? first : second).statuses = ['0/0a']
    this.ringTail(qid)
  }

  /** Submits an Admin command and rings; undefined if the queue is full. @param data first bytes of its buffer. */
  submitAdmin(
    admin: NonNullable<Submitted['admin']>,
    entry: Entry,
    statuses: readonly string[],
    data?: Uint8Array,
  ): Submitted | undefined {
    const sq = this.sqs.get(0)
    if (sq === undefined || sq.isHalted || this.ledger.freeSlots(sq) < 1) return undefined
    const slot = data && this.buffers.take(ADMIN_DATA_BYTES)
    if (slot) {
      slot.data.bytes.set(data)
      slot.data.accept()
    }
    const began = this.medium.tick()
    const command = this.ledger.accept({ sq, cid: this.ledger.freshCid(), what: admin, statuses, began, admin, slot })
    sq.stage({ ...entry, prp1: slot ? slot.data.iova() : (entry.prp1 ?? 0) }, command.cid)
    this.ringTail(0)
    return command
  }

  submitOperation(operation: AdminOperation): Submitted | undefined {
    const { nsid } = this.scenario.namespaces[0]!
    const ok = ['0/00']
    const answer = new Uint8Array(0)
    switch (operation) {
      case 'identify':
        return this.submitAdmin(operation, { opcode: 0x06, cdw: { 10: 1 } }, ok, answer)
      case 'identify-namespace':
        return this.submitAdmin(operation, { opcode: 0x06, nsid, cdw: { 10: 0 } }, ok, answer)
      case 'namespace-list':
        return this.submitAdmin(operation, { opcode: 0x06, cdw: { 10: 2 } }, ok, answer)
      case 'get-features':
        return this.submitAdmin(operation, { opcode: 0x0a, cdw: { 10: 7 } }, ok)
      case 'event':
        return this.submitAdmin(operation, { opcode: 0x0c }, ['0/00', '1/05'])
      case 'opcode':
        return this.submitAdmin(operation, { opcode: 0x5f }, ['0/01'])
    }
  }

  /** Submits an Abort for a command; undefined if the queue is full or the command already has an Abort. */
  submitAbort(target: Submitted): Submitted | undefined {
    if (target.abortedBy) return undefined
    const entry = { opcode: 0x08, cdw: { 10: (target.sq.qid | (target.cid << 16)) >>> 0 } }
    // 1/03 is Abort Command Limit Exceeded.
    const abort = this.submitAdmin('abort', entry, ['0/00', '1/03'])
    if (abort === undefined) return undefined
    abort.target = target
    target.abortedBy = abort
    return abort
  }

  /** Consumes and checks up to `max` completions of a queue, then rings its doorbell unless `ring` is false. */
  poll(cqid: number, { max = Infinity, ring = true } = {}): void {
    const cq = this.cqs.get(cqid)
    if (cq === undefined) return
    let taken = 0
    for (; taken < max; taken++) {
      const entry = cq.take()
      if (entry === undefined) break
      this.absorbStrikes()
      this.judge(cq, entry)
    }
    if (taken < max) cq.isSignaled = false
    if (taken > 0 && ring) this.ringHead(cqid)
  }

  pollAll(ring = true): void {
    this.absorbStrikes()
    for (const cqid of this.cqs.keys()) this.poll(cqid, { ring })
  }

  /** Records that a shutdown was requested, which may end outstanding commands. */
  noteShutdown(): void {
    for (const command of this.ledger.outstanding) command.isShutDown = true
  }

  /** Records whether the commands of a queue may end with 0/08, because the queue is being or was deleted. */
  markDeleting(sq: SqRing, isDeleting: boolean): void {
    for (const command of this.outOn(sq.qid)) if (command.sq === sq) command.isQueueDeleted = isDeleting
  }

  /** Records that a queue was deleted: its outstanding commands will not complete. */
  queueDeleted(sq: SqRing): void {
    this.markDeleting(sq, true)
    for (const command of this.outOn(sq.qid)) if (command.sq === sq) this.forget(command)
    this.sqs.delete(sq.qid)
  }

  /** Discards all queues and commands, after a reset or removal of the controller. */
  controllerLost(): void {
    for (const command of [...this.ledger.outstanding]) {
      command.isLost = true
      this.forget(command)
    }
    // The controller must not write to them from now on.
    for (const region of this.regions) {
      region.accept()
      region.isUnknown = false
    }
    this.cqs.clear()
    this.sqs.clear()
    this.doorbells.reset()
  }

  /** @throws RunFailure for a byte that the controller should not have changed. */
  checkMemory(): void {
    this.absorbStrikes()
    for (const region of this.regions) region.check()
    this.buffers.check()
  }

  /** Processes the faults that have occurred since the last call. */
  absorbStrikes(): void {
    const { injected } = this.simulation.faults
    for (; this.injectedSeen < injected.length; this.injectedSeen++) {
      const { where, kind, rule } = injected[this.injectedSeen]!
      const { action } = this.scenario.faults.rules[rule]!
      const nsid = this.spaces.applyFault(action)
      if (nsid !== undefined) {
        this.namespaceFaults++
        this.reconsider(nsid)
      }
      if (action.kind === 'stale-completion') {
        const cq = this.cqs.get(action.qid)
        if (cq) this.ledger.expectStale(cq)
      }
      const command = this.ledger.named(where)
      if (command === undefined) continue
      command.injected.set(kind, action)
      if (kind === 'corrupt-phase') {
        command.sq.cq.isWedged = true
        command.sq.cq.memory.isUnknown = true
      }
      if (DAMAGING.includes(kind)) this.verdicts.damage(command)
      if (kind === 'corrupt-cid' || kind === 'corrupt-sqid') this.ledger.addAlias(command)
    }
  }

  /** Records that a namespace has changed: outstanding commands may find its old or its new state. */
  reconsider(nsid: number): void {
    for (const command of this.ledger.outstanding) {
      const { order } = command
      if (order?.nsid !== nsid) continue
      const states = this.spaces.statesOf(nsid)
      const statuses = states.flatMap((space) => statusesOf(order, space, this.optionalCommands))
      if (statuses.includes('0/02')) command.isDetached = true
      command.statuses = [...new Set([...command.statuses, ...statuses])]
    }
  }

  /** Stops waiting for an outstanding command, and frees its buffer. */
  forget(command: Submitted): void {
    this.ledger.remove(command)
    command.isForgotten = true
    if (command.completions > 0) return
    const { changes, slot } = command
    if (changes) {
      if (command.injected.has('hang')) this.medium.cancel(changes, command)
      else this.medium.abandon(changes, command)
    }
    if (slot) this.buffers.give(slot)
  }

  private stage(sq: SqRing, given: IoOrder, half?: 'first' | 'second'): Submitted | undefined {
    const space = this.spaces.get(given.nsid)
    if (space === undefined) return undefined
    const order = fitOrder(given, space)
    const { operation, flaw } = order
    const dataBytes = dataBytesOf(order, space)
    const pieces = placementOf(order, dataBytes)
    const slot = dataBytes > 0 ? this.buffers.take(dataBytes) : undefined
    const began = this.medium.tick()
    const contents = slot && fillData(slot, order, space, pieces, this.medium, began)
    const what = `${half ? `${half} half: ` : ''}${operation} ${order.blocks} at ${order.slba}${flaw ? `, wrong ${flaw}` : ''}`
    const statuses = statusesOf(order, space, this.optionalCommands)
    const cid = this.ledger.freshCid()
    const command = this.ledger.accept({ sq, cid, what, statuses, began, order, space, slot, pieces })
    command.contents = contents ?? []
    command.half = half
    if (command.changes) beginChange(this.medium, command.changes, command, order)
    sq.stage(entryOf(order, space, slot, pieces, half ? FUSE[half] : 0), cid)
    return command
  }

  private judge(cq: CqRing, entry: Completion): void {
    const command = this.ledger.complete(cq, entry)
    if (command === undefined) return
    checkFields(command, entry)
    if (command.completions === 1) {
      checkStatus(command, entry)
      command.status = entry.status
      command.dw0 = entry.dw0
      if (!command.isForgotten) this.verdicts.conclude(command)
    }
    if (command.completions === command.maxCompletions) this.ledger.remove(command)
  }
}
