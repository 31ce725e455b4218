import type { Bar, Clock, Transport } from '@gpunvme/nvme-spec/transport'
import { fail, notApplicable, success } from './check.js'
import { CQE_BYTES, describe, readCompletion, SQE_BYTES, writeEntry, type Completed, type Entry } from './entry.js'
import { registerFacts, type ControllerFacts, type RegisterFacts } from './facts.js'
import { CaseMemory, type CaseMemoryRequest } from './memory.js'
import { Patience } from './patience.js'

// A host that knows no more than the specification's figures: offsets, bits and opcodes stand here and in the cases as
// numbers, so that a mistake in the declarations that a driver or a simulator is built on shows.

export const CAP = 0x00
export const VS = 0x08
export const INTMS = 0x0c
export const INTMC = 0x10
export const CC = 0x14
export const CSTS = 0x1c
export const NSSR = 0x20
export const AQA = 0x24
export const ASQ = 0x28
export const ACQ = 0x30

/** CC.EN, and CSTS.RDY and CSTS.CFS. */
export const EN = 1
export const RDY = 1
export const CFS = 2

/** How long a command may take, and how long nothing may happen before we believe that nothing will. */
const COMMAND_LIMIT_NS = 10e9
const SETTLE_NS = 50e6

/** A submission queue of the host: its ring, and where it stands. */
export interface SqRing {
  readonly qid: number
  readonly memory: CaseMemory
  readonly entries: number
  readonly cqid: number
  tail: number
}

/** A completion queue of the host: its ring, and where it stands. */
export interface CqRing {
  readonly qid: number
  readonly memory: CaseMemory
  readonly entries: number
  head: number
  phase: number
}

/** How the controller is enabled. */
export interface EnableOptions {
  readonly sqEntries?: number
  readonly cqEntries?: number
  /** CC as it is written; EN, CSS = NVM, the smallest MPS, IOSQES = 6, IOCQES = 4 when not given. */
  readonly cc?: number
}

/** How the host of the cases waits. */
export interface HostOptions {
  /** How long a command may take, of the transport's clock; 10 s when not given. */
  readonly commandLimitNs?: number
}

/**
 * Drives a controller by raw registers and raw bytes. Every wait ends, also on a clock that stands still, and every
 * allocation lies between canaries. What the transport itself promises is waited for by `runControllerCase`'s limit.
 */
export class CaseHost {
  readonly transport: Transport
  readonly registers: RegisterFacts
  readonly cqs = new Map<number, CqRing>()
  readonly sqs = new Map<number, SqRing>()
  /** What Number of Queues granted at the last `start`. */
  grantedSqs = 0
  grantedCqs = 0
  /** Alignment of what `alloc` gives: the memory page, until a case enables the controller with a larger one. */
  alignBytes: number
  private readonly learned: ControllerFacts | undefined
  private readonly commandLimitNs: number
  private readonly memories: CaseMemory[] = []
  private readonly patience: Patience
  private isGivenUp = false
  /** Commands that were submitted, in words, by SQ and CID. */
  private readonly asked = new Map<string, string>()
  private nextCid = 0

  constructor(transport: Transport, facts?: ControllerFacts, { commandLimitNs = COMMAND_LIMIT_NS }: HostOptions = {}) {
    this.transport = transport
    this.registers = registerFacts(transport)
    this.learned = facts
    this.commandLimitNs = commandLimitNs
    this.patience = new Patience(transport.clock)
    this.alignBytes = this.pageBytes
  }

  get bar(): Bar {
    return this.transport.bar
  }

  get clock(): Clock {
    return this.transport.clock
  }

  /** What the controller says of itself; learned before the case began. */
  get facts(): ControllerFacts {
    return this.learned ?? fail('nothing is known of the controller yet')
  }

  /** The memory page of CC.MPS when `enable` chooses it. */
  get pageBytes(): number {
    return 2 ** (12 + this.registers.mpsMin)
  }

  /** EN, CSS = NVM, the smallest MPS, IOSQES = 6 (64 bytes), IOCQES = 4 (16 bytes). */
  get enabledCc(): number {
    return 0x0046_0001 | (this.registers.mpsMin << 7)
  }

  /** Contiguous memory, aligned to the memory page, every byte a5h. */
  alloc(lengthBytes: number, request: CaseMemoryRequest = {}): CaseMemory {
    const memory = new CaseMemory(this.transport.dma, lengthBytes, { alignBytes: this.alignBytes, ...request })
    this.memories.push(memory)
    return memory
  }

  /**
   * Lets time pass until `condition` holds; false when it did not within `limitNs`.
   * @throws CheckFailed when it holds at the deadline and `Clock.idle` has not returned for it: a driver that waits so
   * would have lost all that time. And when the clock stands still.
   */
  async until(condition: () => boolean, limitNs = this.commandLimitNs): Promise<boolean> {
    const endNs = this.clock.now() + limitNs
    this.patience.begin()
    while (!condition()) {
      if (this.clock.now() >= endNs) return false
      if (this.isGivenUp) fail('the case took too long, and goes on no more')
      await this.patience.idle(endNs)
      if (this.clock.now() < endNs) continue
      if (condition()) fail(`what was waited for came without an announcement: it took the whole ${limitNs / 1e9} s`)
      return false
    }
    return true
  }

  /** Lets what is under way come to its end. */
  async settle(ns = SETTLE_NS): Promise<void> {
    await this.until(() => false, ns)
  }

  /** Waits for the bits of CSTS; @throws CheckFailed when they do not come within CAP.TO. */
  async waitForStatus(mask: number, wanted: number, why: string): Promise<void> {
    const { readyLimitNs } = this.registers
    if (await this.until(() => (this.bar.read32(CSTS) & mask) === wanted, readyLimitNs)) return
    const csts = this.bar.read32(CSTS).toString(16)
    fail(
      `${why}: expected CSTS & ${mask.toString(16)}h = ${wanted.toString(16)}h within ${readyLimitNs / 1e6} ms, got CSTS ${csts}h`,
    )
  }

  /** Fresh Admin queues into AQA, ASQ and ACQ. */
  placeAdminQueues(sqEntries = 32, cqEntries = sqEntries): void {
    const cq = this.addCqRing(0, cqEntries)
    const sq = this.addSqRing(0, sqEntries, 0)
    this.bar.write32(AQA, (sqEntries - 1) | ((cqEntries - 1) << 16))
    this.bar.write64(ASQ, BigInt(sq.memory.iova()))
    this.bar.write64(ACQ, BigInt(cq.memory.iova()))
  }

  /** Places Admin queues, writes CC and waits for RDY or CFS, at most CAP.TO. Returns CSTS. */
  async enable({ sqEntries = 32, cqEntries = sqEntries, cc = this.enabledCc }: EnableOptions = {}): Promise<number> {
    this.placeAdminQueues(sqEntries, cqEntries)
    this.bar.write32(CC, cc)
    await this.until(() => (this.bar.read32(CSTS) & (RDY | CFS)) !== 0, this.registers.readyLimitNs)
    return this.bar.read32(CSTS)
  }

  /** Enables the controller, which must become ready, and asks for as many I/O queues as there are. */
  async start(options?: EnableOptions): Promise<void> {
    const csts = await this.enable(options)
    if ((csts & (RDY | CFS)) !== RDY)
      fail(`CC.EN = 1: expected CSTS.RDY = 1 and CFS = 0, got CSTS ${csts.toString(16)}h`)
    // Set Features, Number of Queues: FFFEh is the most that may be asked for.
    const granted = await this.admin({ opcode: 0x09, cdw: { 10: 0x07, 11: 0xfffe_fffe } })
    success(granted)
    this.grantedSqs = (granted.dw0 & 0xffff) + 1
    this.grantedCqs = (granted.dw0 >>> 16) + 1
  }

  /** `start`, and queue pair 1. */
  async startWithPair(entries = Math.min(64, this.registers.maxQueueEntries)): Promise<void> {
    await this.start()
    await this.createPair(1, entries)
  }

  /** CC.EN 1 -> 0, until RDY = 0; every ring is forgotten. */
  async disable(): Promise<void> {
    this.bar.write32(CC, (this.bar.read32(CC) & ~EN) >>> 0)
    await this.waitForStatus(RDY, 0, 'CC.EN 1 -> 0')
    this.forgetRings()
  }

  /** Gives the memory of all rings back, as is right when the controller knows no queue any more. */
  forgetRings(): void {
    this.cqs.clear()
    this.sqs.clear()
  }

  /** A completion queue's ring, zeroed; the controller is not told. */
  addCqRing(qid: number, entries: number): CqRing {
    // A set Phase Tag would be a completion on the first lap.
    const memory = this.alloc(entries * CQE_BYTES, { fill: 0 })
    const cq: CqRing = { qid, memory, entries, head: 0, phase: 1 }
    this.cqs.set(qid, cq)
    return cq
  }

  /** A submission queue's ring; the controller is not told. */
  addSqRing(qid: number, entries: number, cqid: number): SqRing {
    const memory = this.alloc(entries * SQE_BYTES, { fill: 0xff })
    const sq: SqRing = { qid, memory, entries, cqid, tail: 0 }
    this.sqs.set(qid, sq)
    return sq
  }

  /** Creates a completion queue without interrupts; its status must be success. CDW11 is PC when not given. */
  async createCq(qid: number, entries: number, cdw11 = 1): Promise<void> {
    this.needEntries(entries)
    const { memory } = this.addCqRing(qid, entries)
    const cdw = { 10: qid | ((entries - 1) << 16), 11: cdw11 }
    success(await this.admin({ opcode: 0x05, prp1: memory.iova(), cdw }))
  }

  /** Creates a submission queue; its status must be success. */
  async createSq(qid: number, entries: number, cqid: number): Promise<void> {
    this.needEntries(entries)
    const { memory } = this.addSqRing(qid, entries, cqid)
    const cdw = { 10: qid | ((entries - 1) << 16), 11: 1 | (cqid << 16) }
    success(await this.admin({ opcode: 0x01, prp1: memory.iova(), cdw }))
  }

  /** Creates CQ and SQ `qid`, of `entries` each. */
  async createPair(qid: number, entries: number): Promise<void> {
    await this.createCq(qid, entries)
    await this.createSq(qid, entries, qid)
  }

  /** Delete I/O Submission Queue, whatever comes of it. */
  deleteSq(qid: number): Promise<Completed> {
    return this.admin({ opcode: 0x00, cdw: { 10: qid } })
  }

  /** Delete I/O Completion Queue, whatever comes of it. */
  deleteCq(qid: number): Promise<Completed> {
    return this.admin({ opcode: 0x04, cdw: { 10: qid } })
  }

  /** Writes an entry at the tail without ringing. Returns its CID. */
  stage(qid: number, entry: Entry): number {
    const ring = this.sqs.get(qid)!
    const cid = entry.cid ?? this.freshCid()
    writeEntry(ring.memory, ring.tail * SQE_BYTES, entry, cid)
    this.asked.set(`${qid}/${cid}`, describe(qid, entry))
    ring.tail = (ring.tail + 1) % ring.entries
    return cid
  }

  /** Writes a tail doorbell: what was staged, when not told otherwise. */
  ringTail(qid: number, tail = this.sqs.get(qid)!.tail): void {
    this.bar.write32(0x1000 + 2 * qid * this.registers.strideBytes, tail)
  }

  /** Writes a head doorbell: what was taken, when not told otherwise. */
  ringHead(qid: number, head = this.cqs.get(qid)!.head): void {
    this.bar.write32(0x1000 + (2 * qid + 1) * this.registers.strideBytes, head)
  }

  /** Stages an entry and rings for it. Gives its CID. */
  submit(qid: number, entry: Entry): number {
    const cid = this.stage(qid, entry)
    this.ringTail(qid)
    return cid
  }

  /** Takes at most `most` of the completions that are there now; rings the head for them unless `ring` is false. */
  poll(cqid: number, { ring = true, most = Infinity }: { ring?: boolean; most?: number } = {}): Completed[] {
    const cq = this.cqs.get(cqid)!
    const found: Completed[] = []
    // A queue of n entries holds n - 1: a controller that never changes the phase shall not keep us here.
    while (found.length < Math.min(cq.entries - 1, most)) {
      const entry = readCompletion(cq.memory.read(cq.head * CQE_BYTES, CQE_BYTES), (sqid, cid) => this.words(sqid, cid))
      if (entry.phase !== cq.phase) break
      found.push(entry)
      cq.head = (cq.head + 1) % cq.entries
      if (cq.head === 0) cq.phase ^= 1
    }
    if (ring && found.length > 0) this.ringHead(cqid)
    return found
  }

  /** Waits until `count` completions of `cqid` are there. @throws CheckFailed when they do not come. */
  async collect(cqid: number, count: number): Promise<Completed[]> {
    const found: Completed[] = []
    if (await this.until(() => found.push(...this.poll(cqid)) >= count)) return found
    const csts = this.bar.read32(CSTS).toString(16)
    const limit = this.commandLimitNs / 1e9
    fail(`CQ ${cqid}: expected ${count} completions within ${limit} s, got ${found.length}; CSTS is ${csts}h`)
  }

  /** One command, to its completion, which must be the only one on its queue and of this command. */
  async command(qid: number, entry: Entry): Promise<Completed> {
    const cid = this.submit(qid, entry)
    const [completed, ...others] = await this.collect(this.sqs.get(qid)!.cqid, 1)
    const expected = `${this.words(qid, cid)}: expected one completion, of SQ ${qid} CID ${cid}`
    const isOwn = (each: Completed) => each.cid === cid && each.sqid === qid
    const stranger = [completed!, ...others].find((each) => !isOwn(each))
    if (stranger) fail(`${expected}, got one of SQ ${stranger.sqid} CID ${stranger.cid}`)
    if (others.length > 0) fail(`${expected}, got ${others.length + 1} of it`)
    return completed!
  }

  /** One Admin command, to its completion. */
  admin(entry: Entry): Promise<Completed> {
    return this.command(0, entry)
  }

  /** Nothing arrives on the queue while everything settles. */
  async expectQuiet(cqid: number, why: string): Promise<void> {
    await this.settle()
    const [first] = this.poll(cqid)
    if (first) fail(`${why}: expected no completion, got status ${first.status} for: ${first.asked}`)
  }

  /** @throws CheckFailed where the controller wrote outside of any allocation. */
  checkMemory(): void {
    for (const memory of this.memories) memory.checkCanaries()
  }

  /** Stops the controller as well as it can be stopped, and gives all memory back. */
  async release(): Promise<void> {
    try {
      const cc = this.bar.read32(CC)
      if (cc !== 0xffff_ffff && (cc & EN) !== 0) {
        this.bar.write32(CC, (cc & ~EN) >>> 0)
        await this.until(() => (this.bar.read32(CSTS) & RDY) === 0, this.registers.readyLimitNs)
      }
    } finally {
      for (const memory of this.memories.splice(0)) memory.free()
    }
  }

  /** Whoever runs the case waits for it no more: its next wait is its last. */
  giveUp(): void {
    this.isGivenUp = true
  }

  private needEntries(entries: number): void {
    const { maxQueueEntries } = this.registers
    if (entries > maxQueueEntries) notApplicable(`CAP.MQES allows ${maxQueueEntries} entries`)
  }

  private freshCid(): number {
    // FFFFh should not be used (Base 2.3 §4.1.1).
    const cid = this.nextCid
    this.nextCid = (cid + 1) % 0xffff
    return cid
  }

  private words(sqid: number, cid: number): string {
    return this.asked.get(`${sqid}/${cid}`) ?? `a command that was never submitted (SQ ${sqid}, CID ${cid})`
  }
}
