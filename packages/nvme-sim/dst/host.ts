import type { FaultAction, Transport } from '@gpunvme/nvme-spec/transport'
import type { Completion, Entry } from '../conformance/raw-host/entry.js'
import type { Simulation } from '../src/index.js'
import { Buffers } from './buffers.js'
import { checkCompare, checkData, checkFields, checkStatus, damagedRanges } from './check-completion.js'
import { RunFailure } from './failure.js'
import { Medium, type Range } from './medium.js'
import { ANY, fillBlock, ZEROES } from './pattern.js'
import type { Region } from './region.js'
import { CqRing, SqRing } from './rings.js'
import type { AdminOperation, IoOrder, NamespaceShape, Scenario } from './scenario.js'
import { Submitted } from './submitted.js'

// Offsets, bits and opcodes are numbers from the specification's figures: the campaign shares no declaration with the
// code that it tests.

const OPCODES = {
  read: 0x02,
  write: 0x01,
  compare: 0x05,
  'write-zeroes': 0x08,
  deallocate: 0x09,
  verify: 0x0c,
  flush: 0,
} as const

/** The bits of ONCS for optional commands (Base 2.1 Figure 312). */
const OPTIONAL = { compare: 0x01, deallocate: 0x04, 'write-zeroes': 0x08, verify: 0x80 } as const

const IDENTIFY_BYTES = 4096

/** Dataset Management: one range, and the attribute Deallocate in CDW11 (NVM 1.2 §3.3.3). */
const RANGE_BYTES = 16
const ATTRIBUTE_DEALLOCATE = 1 << 2

/** An unmapped address. */
const NOWHERE = 0x10_0000

/** The host's expectation of a namespace. */
interface NamespaceState {
  readonly isAttached: boolean
  readonly blocks: number
}

/** The host's side of one controller: rings, commands, and their state. */
export class Host {
  readonly simulation: Simulation
  readonly transport: Transport
  readonly buffers: Buffers
  readonly medium = new Medium()
  readonly cqs = new Map<number, CqRing>()
  readonly sqs = new Map<number, SqRing>()
  strideBytes = 4
  /** ONCS of Identify Controller. */
  optionalCommands = 0
  completed = 0
  submitted = 0
  private readonly scenario: Scenario
  private readonly regions: Region[] = []
  private readonly commands = new Map<string, Submitted>()
  /** Commands that may still complete, oldest first. */
  private out: Submitted[] = []
  private readonly aliases = new Map<string, Submitted[]>()
  private nextCid = 0
  private strikesSeen = 0
  /** Changes of namespaces by faults, by NSID. */
  private readonly changed = new Map<number, NamespaceState>()

  constructor(simulation: Simulation, scenario: Scenario) {
    this.simulation = simulation
    this.transport = simulation.transport
    this.scenario = scenario
    this.buffers = new Buffers(this.transport.dma)
  }

  get nowNs(): number {
    return this.transport.clock.now()
  }

  /** Returns the outstanding commands of a queue. */
  outOn(qid: number): readonly Submitted[] {
    return this.out.filter((each) => each.sq.qid === qid)
  }

  /** Commands that the host still has to wait for. */
  get unsettled(): readonly Submitted[] {
    this.absorbStrikes()
    return this.out.filter((each) => !each.isSettled)
  }

  async pass(ns: number): Promise<void> {
    const endNs = this.nowNs + ns
    while (this.nowNs < endNs) await this.transport.clock.idle(endNs)
  }

  addCq(qid: number, entries: number): CqRing {
    const ring = new CqRing(this.transport.dma, qid, entries)
    this.regions.push(ring.memory)
    this.cqs.set(qid, ring)
    return ring
  }

  addSq(qid: number, entries: number, cqid: number): SqRing {
    const ring = new SqRing(this.transport.dma, qid, entries, this.cqs.get(cqid)!)
    this.regions.push(ring.memory)
    this.sqs.set(qid, ring)
    return ring
  }

  /** Rings the doorbell for staged entries. Does nothing if none is staged, which would be a mistake (Base 2.1 §5.1.2.1). */
  ringTail(qid: number, isForced = false): void {
    const sq = this.sqs.get(qid)
    if (sq && !sq.isHalted && (sq.hasNews || isForced)) sq.ring(this.transport.bar, this.strideBytes)
  }

  ringHead(cqid: number, isForced = false): void {
    const cq = this.cqs.get(cqid)
    if (cq && !cq.isClosing && (cq.hasNews || isForced)) cq.ring(this.transport.bar, this.strideBytes)
  }

  /** Writes all doorbells that have changed; forced, all of them, like a driver that has waited too long. */
  ringAll(isForced = false): void {
    for (const qid of this.sqs.keys()) this.ringTail(qid, isForced)
    for (const cqid of this.cqs.keys()) this.ringHead(cqid, isForced)
  }

  /** Submits an I/O command; undefined if its queue is full. */
  submitIo(qid: number, order: IoOrder): Submitted | undefined {
    const sq = this.sqs.get(qid)
    if (sq === undefined || !this.hasRoom(sq)) return undefined
    this.absorbStrikes()
    const namespace = this.namespace(order.nsid)
    const { operation, flaw } = order
    const dataBytes = dataBytesOf(order, namespace)
    const slot = dataBytes > 0 ? this.buffers.take() : undefined
    const began = this.medium.tick()
    if (slot && operation === 'deallocate') fillRanges(slot.data, order, namespace)
    else if (slot && operation !== 'read') this.fill(slot.data, order, namespace, began)
    const command = this.accept({
      sq,
      cid: this.freshCid(),
      what: `${operation} ${order.blocks} at ${order.slba}${flaw ? `, wrong ${flaw}` : ''}`,
      statuses: this.statusesOf(order),
      began,
      order,
      slot,
      dataBytes,
    })
    const { changes } = command
    if (changes) this.medium.begin(changes, command, () => (operation === 'write' ? order.salt : ZEROES))
    sq.stage(this.entryOf(command, namespace), command.cid)
    return command
  }

  /** Submits an Admin command and rings; undefined if the queue is full. */
  submitAdmin(admin: Submitted['admin'], entry: Entry, statuses: readonly string[], needsBuffer = false) {
    const sq = this.sqs.get(0)
    if (sq === undefined || !this.hasRoom(sq)) return undefined
    const slot = needsBuffer ? this.buffers.take() : undefined
    const began = this.medium.tick()
    const command = this.accept({ sq, cid: this.freshCid(), what: admin!, statuses, began, admin, slot })
    sq.stage({ ...entry, prp1: slot ? slot.data.iova() : (entry.prp1 ?? 0) }, command.cid)
    this.ringTail(0)
    return command
  }

  submitOperation(operation: AdminOperation): Submitted | undefined {
    const { nsid } = this.scenario.namespaces[0]!
    const ok = ['0/00']
    switch (operation) {
      case 'identify':
        return this.submitAdmin(operation, { opcode: 0x06, cdw: { 10: 1 } }, ok, true)
      case 'identify-namespace':
        return this.submitAdmin(operation, { opcode: 0x06, nsid, cdw: { 10: 0 } }, ok, true)
      case 'namespace-list':
        return this.submitAdmin(operation, { opcode: 0x06, cdw: { 10: 2 } }, ok, true)
      case 'get-features':
        return this.submitAdmin(operation, { opcode: 0x0a, cdw: { 10: 7 } }, ok)
      case 'event':
        return this.submitAdmin(operation, { opcode: 0x0c }, ['0/00', '1/05'])
      case 'opcode':
        return this.submitAdmin(operation, { opcode: 0x5f }, ['0/01'])
    }
  }

  /** Submits an Abort for a command; undefined if the queue is full, or an Abort was sent before. */
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

  /** Takes and checks up to `most` completions of a queue, and rings unless disabled. */
  poll(cqid: number, { most = Infinity, ring = true } = {}): void {
    const cq = this.cqs.get(cqid)
    if (cq === undefined) return
    let taken = 0
    for (; taken < most; taken++) {
      const entry = cq.take()
      if (entry === undefined) break
      this.absorbStrikes()
      this.judge(cq, entry)
    }
    if (taken > 0 && ring) this.ringHead(cqid)
  }

  pollAll(ring = true): void {
    this.absorbStrikes()
    for (const cqid of this.cqs.keys()) this.poll(cqid, { ring })
  }

  /** A shutdown was requested, which may end outstanding commands. */
  noteShutdown(): void {
    for (const command of this.out) command.isShutDown = true
  }

  /** A Delete is in progress or has failed: meanwhile, and afterwards, commands may end with 0/08. */
  markDeleting(sq: SqRing, isDeleting: boolean): void {
    for (const command of this.out) if (command.sq === sq) command.isQueueDeleted = isDeleting
  }

  /** A queue was deleted: its outstanding commands will never complete. */
  queueDeleted(sq: SqRing): void {
    this.markDeleting(sq, true)
    for (const command of this.out.filter((each) => each.sq === sq)) this.forget(command)
    this.sqs.delete(sq.qid)
  }

  /** The controller has lost its state, or has left the bus. */
  controllerLost(): void {
    for (const command of [...this.out]) {
      command.isLost = true
      this.forget(command)
    }
    // From now on they are no longer written.
    for (const region of this.regions) {
      region.accept()
      region.isUnknown = false
    }
    this.cqs.clear()
    this.sqs.clear()
  }

  /** @throws RunFailure for a byte that the controller should not have changed. */
  checkMemory(): void {
    this.absorbStrikes()
    for (const region of this.regions) region.check()
    this.buffers.check()
  }

  /** Processes the faults that have struck since the last call. */
  absorbStrikes(): void {
    const { strikes } = this.simulation.faults
    for (; this.strikesSeen < strikes.length; this.strikesSeen++) {
      const { where, kind, rule } = strikes[this.strikesSeen]!
      this.changeNamespace(this.scenario.faults.rules[rule]!.action)
      const at = /^SQ (\d+) CID (\d+)$/.exec(where)
      const command = at ? this.commands.get(`${at[1]}/${at[2]}`) : undefined
      if (command === undefined) continue
      command.struck.set(kind, this.scenario.faults.rules[rule]!.action)
      if (kind === 'corrupt-phase') {
        command.sq.cq.isWedged = true
        command.sq.cq.memory.isUnknown = true
      }
      if (kind === 'corrupt-data' || kind === 'torn-dma' || kind === 'wrong-page') this.damage(command)
      if (kind === 'corrupt-cid' || kind === 'corrupt-sqid') this.addAlias(command)
    }
  }

  /** A fault has changed a namespace: outstanding commands may see the old or the new state. */
  private changeNamespace(action: FaultAction): void {
    if (!('nsid' in action)) return
    const { nsid, kind } = action
    const { isAttached, blocks } = this.stateOf(nsid)
    if (kind === 'resize-namespace') this.changed.set(nsid, { isAttached, blocks: action.blocks })
    else this.changed.set(nsid, { isAttached: kind === 'attach-namespace', blocks })
    for (const command of this.out) {
      const { order } = command
      if (order?.nsid !== nsid) continue
      const statuses = this.statusesOf(order)
      if (statuses.includes('0/02')) command.isDetached = true
      command.statuses = [...new Set([...command.statuses, ...statuses])]
    }
  }

  private stateOf(nsid: number): NamespaceState {
    return this.changed.get(nsid) ?? { isAttached: true, blocks: this.namespace(nsid).blocks }
  }

  private accept(facts: ConstructorParameters<typeof Submitted>[0]): Submitted {
    const command = new Submitted(facts)
    this.commands.set(`${command.sq.qid}/${command.cid}`, command)
    this.out.push(command)
    this.submitted++
    return command
  }

  /** A slot is free if its command has completed or was observed as fetched: a fault may have changed SQHD. */
  private hasRoom(sq: SqRing): boolean {
    const isThere = ({ completions, struck }: Submitted) =>
      completions === 0 && !struck.has('hang') && !struck.has('drop-completion')
    return !sq.isHalted && this.out.filter((each) => each.sq === sq && isThere(each)).length < sq.entries - 1
  }

  private judge(cq: CqRing, entry: Completion): void {
    this.completed++
    const { sqid, cid, status } = entry
    const command = this.find(sqid, cid)
    if (command?.sq.cq !== cq) {
      throw new RunFailure('unknown-completion', `CQ ${cq.qid}: SQ ${sqid} CID ${cid} status ${status}, of no command`)
    }
    if (++command.completions > command.most) {
      throw new RunFailure('repeated-completion', `${command.name}: ${command.completions} completions`)
    }
    checkFields(command, entry)
    if (command.completions === 1) {
      checkStatus(command, entry)
      command.status = status
      command.dw0 = entry.dw0
      if (!command.isForgotten) this.conclude(command)
    }
    if (command.completions === command.most) this.out = this.out.filter((each) => each !== command)
  }

  /** A command has completed: checks its data and takes its buffer back. */
  private conclude(command: Submitted): void {
    const { order, slot, changes } = command
    if (order) {
      const namespace = this.namespace(order.nsid)
      checkCompare(command, this.medium, namespace)
      checkData(command, this.medium, namespace)
      if (changes) this.concludeChange(command, changes)
    }
    if (command.admin === 'abort') checkAbort(command)
    if (command.abortedBy?.status !== undefined) checkAbort(command.abortedBy)
    if (command.admin && slot) {
      const hasSucceeded = command.status === '0/00' && !command.struck.has('status')
      // A shutdown may abort any command (Base 2.1 §3.6.1), and an Abort excludes only effects after its completion
      // (§5.1.1.1): data that arrived earlier remain.
      if (hasSucceeded || command.isPutOff) slot.data.accept(0, IDENTIFY_BYTES)
      slot.data.check()
    }
    if (slot) this.buffers.give(slot)
  }

  private concludeChange(command: Submitted, changes: Range): void {
    // A delayed completion comes after the command took effect, and an Abort may come in between.
    if (command.status !== '0/00' && command.isPutOff) this.medium.leave(changes, command)
    // Other failed commands have had no effect, nor has a success made up by the plan.
    else if (command.status !== '0/00' || command.struck.has('status')) this.medium.cancel(changes, command)
    else this.medium.end(changes, command)
  }

  /** A fault has damaged a Write's data on the media: other commands may find it before the Write has completed. */
  private damage(command: Submitted): void {
    const { changes } = command
    if (changes === undefined) return
    const { blockBytes } = this.namespace(changes.nsid)
    for (const [from, to] of damagedRanges(command)) {
      const last = Math.min(changes.blocks - 1, Math.floor((to - 1) / blockBytes))
      for (let index = Math.floor(from / blockBytes); index <= last; index++) {
        this.medium.damage(changes, command, index)
      }
    }
  }

  /** Stops waiting for an outstanding command. */
  private forget(command: Submitted): void {
    this.out = this.out.filter((each) => each !== command)
    command.isForgotten = true
    if (command.completions > 0) return
    const { changes, slot } = command
    if (changes) {
      if (command.struck.has('hang')) this.medium.cancel(changes, command)
      else this.medium.leave(changes, command)
    }
    if (slot) this.buffers.give(slot)
  }

  private find(sqid: number, cid: number): Submitted | undefined {
    const key = `${sqid}/${cid}`
    const meant = this.aliases.get(key)?.find(({ completions, most }) => completions < most)
    if (meant) return meant
    const command = this.commands.get(key)
    const isRenamed = command?.struck.has('corrupt-cid') === true || command?.struck.has('corrupt-sqid') === true
    return isRenamed ? undefined : command
  }

  /** Registers a command whose completion has a changed identifier. */
  private addAlias(command: Submitted): void {
    const sqid = command.sq.qid ^ (command.strike('corrupt-sqid')?.xor ?? 0)
    const cid = command.cid ^ (command.strike('corrupt-cid')?.xor ?? 0)
    const key = `${sqid}/${cid}`
    this.aliases.set(key, [...(this.aliases.get(key) ?? []), command])
  }

  private entryOf({ order, slot, dataBytes }: Submitted, namespace: NamespaceShape): Entry {
    const { operation, flaw, offsetBytes } = order!
    let [prp1, prp2] = slot ? slot.prps(offsetBytes, dataBytes) : [0, 0]
    if (flaw === 'prp-offset') prp1 += 2
    if (flaw === 'prp-wild') [prp1, prp2] = [NOWHERE, NOWHERE]
    const isDeallocate = operation === 'deallocate'
    const onBlocks = { 10: firstBlock(order!, namespace), 12: order!.blocks - 1 }
    return {
      opcode: flaw === 'opcode' ? 0x7f : OPCODES[operation],
      nsid: flaw === 'nsid' ? 0x1234 : order!.nsid,
      prp1,
      prp2,
      cdw: isDeallocate
        ? { 10: dataBytes / RANGE_BYTES - 1, 11: ATTRIBUTE_DEALLOCATE }
        : operation === 'flush'
          ? {}
          : onBlocks,
    }
  }

  /** Returns the statuses that an order may end with in the current state of its namespace (Base 2.1 §4.2.3, NVM 1.2 §3.3). */
  private statusesOf({ operation, flaw, nsid, slba, blocks }: IoOrder): readonly string[] {
    const isThere = !(operation in OPTIONAL) || (this.optionalCommands & OPTIONAL[operation as 'verify']) !== 0
    if (!isThere || flaw === 'opcode') return ['0/01']
    if (flaw === 'nsid') return ['0/0b']
    const state = this.stateOf(nsid)
    // An inactive NSID is an invalid field (Base 2.1 §3.2.1.2).
    if (!state.isAttached) return ['0/02']
    const ends = operation === 'compare' ? ['0/00', '2/85'] : ['0/00']
    if (operation === 'flush') return ends
    const misled = flaw === 'prp-offset' ? ['0/13'] : flaw === 'prp-wild' ? ['0/04'] : undefined
    // Its blocks are in its data.
    if (operation === 'deallocate' && misled) return misled
    if (flaw === 'lba' || slba + blocks > state.blocks) return ['0/80']
    return operation === 'write-zeroes' || operation === 'verify' ? ends : (misled ?? ends)
  }

  /** The data of a Write; for a Compare without a salt, the expected contents. */
  private fill(region: Region, order: IoOrder, { nsid, blockBytes }: NamespaceShape, began: number): void {
    const { offsetBytes, slba, blocks, salt } = order
    for (let index = 0; index < blocks; index++) {
      const at = offsetBytes + index * blockBytes
      const lba = slba + index
      const content = salt || (this.medium.possible(nsid, lba, began).find((each) => each !== ANY) ?? ZEROES)
      fillBlock(region.bytes.subarray(at, at + blockBytes), content, nsid, lba)
    }
    region.accept(offsetBytes, blocks * blockBytes)
  }

  private namespace(nsid: number): NamespaceShape {
    return this.scenario.namespaces.find((each) => each.nsid === nsid)!
  }

  private freshCid(): number {
    return this.nextCid++
  }
}

/** Returns the data bytes exchanged for an order. */
function dataBytesOf({ operation, blocks }: IoOrder, { blockBytes }: NamespaceShape): number {
  if (operation === 'deallocate') return Math.min(blocks, 2) * RANGE_BYTES
  return operation === 'read' || operation === 'write' || operation === 'compare' ? blocks * blockBytes : 0
}

/** Returns the SLBA; for an order with a wrong one, its last block is the first that does not exist. */
function firstBlock({ flaw, slba, blocks }: IoOrder, namespace: NamespaceShape): number {
  return flaw === 'lba' ? namespace.blocks - blocks + 1 : slba
}

/** Writes the ranges of a Dataset Management: its blocks in two parts, if there are two. */
function fillRanges(region: Region, order: IoOrder, namespace: NamespaceShape): void {
  const slba = firstBlock(order, namespace)
  const half = order.blocks >> 1
  const ranges = [
    { slba, blocks: half },
    { slba: slba + half, blocks: order.blocks - half },
  ].filter(({ blocks }) => blocks > 0)
  const view = new DataView(region.bytes.buffer, region.bytes.byteOffset + order.offsetBytes)
  ranges.forEach((range, i) => {
    view.setUint32(i * RANGE_BYTES, 0, true)
    view.setUint32(i * RANGE_BYTES + 4, range.blocks, true)
    view.setBigUint64(i * RANGE_BYTES + 8, BigInt(range.slba), true)
  })
  region.accept()
}

/** Checks that the result of an Abort matches the outcome of its target. */
function checkAbort(abort: Submitted): void {
  const { target } = abort
  if (target?.status === undefined || abort.status !== '0/00' || abort.struck.has('status')) return
  const wasAborted = target.status === '0/07'
  if (wasAborted === ((abort.dw0 & 1) === 0)) return
  throw new RunFailure('abort', `Abort says ${abort.dw0 & 1} of ${target.name}, which ended with ${target.status}`)
}
