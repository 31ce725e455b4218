import type { Bar, Clock, Transport } from '@gpunvme/nvme-spec/transport'
import { CQE_BYTES, createCqEntry, createSqEntry, SQE_BYTES, type Completion, type Entry } from './entry.js'
import {
  ACQ,
  AQA,
  ASQ,
  bits,
  CAP,
  CC,
  CC_ENABLED,
  CFS,
  CSTS,
  EN,
  headDoorbell,
  RDY,
  tailDoorbell,
} from './registers.js'
import { CqRing, SqRing, type RingMemory } from './rings.js'

/** Options of `enable`. */
export interface EnableOptions {
  readonly sqEntries?: number
  readonly cqEntries?: number
  /** Value of CC. Default: `enabledCc`. */
  readonly cc?: number
}

/**
 * Drives a controller by raw registers and raw bytes, on any transport. `M` is the memory of its rings, `C` the type of
 * the completions that it returns. Every wait has a deadline on the transport's clock.
 */
export abstract class HostBase<M extends RingMemory, C extends Completion> {
  readonly transport: Transport
  readonly cap: bigint
  readonly strideBytes: number
  readonly cqs = new Map<number, CqRing<M>>()
  readonly sqs = new Map<number, SqRing<M>>()
  protected readonly commandLimitNs: number
  private nextCid = 0

  constructor(transport: Transport, commandLimitNs = 10e9) {
    this.transport = transport
    this.commandLimitNs = commandLimitNs
    this.cap = transport.bar.read64(CAP)
    this.strideBytes = 4 << bits(this.cap, 35, 32)
  }

  get bar(): Bar {
    return this.transport.bar
  }

  get clock(): Clock {
    return this.transport.clock
  }

  /** Size of the memory page that `enabledCc` selects. */
  get pageBytes(): number {
    return 2 ** (12 + bits(this.cap, 51, 48))
  }

  /** Default value of CC: EN, CSS = NVM, the smallest MPS, IOSQES = 6, IOCQES = 4. */
  get enabledCc(): number {
    return CC_ENABLED | (bits(this.cap, 51, 48) << 7)
  }

  /** Time limit for CSTS.RDY to change: CAP.TO, at least one second. */
  get readyLimitNs(): number {
    return Math.max(1e9, bits(this.cap, 31, 24) * 500e6)
  }

  /** Allocates contiguous memory for a ring, filled with `fill`. */
  protected abstract allocRing(lengthBytes: number, fill: number): M

  /** Adds the fields of `C` to a completion. */
  protected abstract report(completion: Completion): C

  /** Throws an error for a wait or command that failed. */
  protected fail(message: string): never {
    throw new Error(message)
  }

  /** Lets time pass until `condition` holds; returns false if it does not within `limitNs`. */
  async until(condition: () => boolean, limitNs = this.commandLimitNs): Promise<boolean> {
    const { clock } = this
    const endNs = clock.now() + limitNs
    while (!condition()) {
      if (clock.now() >= endNs) return false
      await clock.idle(endNs)
    }
    return true
  }

  /** Lets time pass. */
  async pass(durationNs: number): Promise<void> {
    await this.until(() => false, durationNs)
  }

  /** Writes fresh Admin queues into AQA, ASQ and ACQ. */
  placeAdminQueues(sqEntries = 32, cqEntries = sqEntries): void {
    const cq = this.addCqRing(0, cqEntries)
    const sq = this.addSqRing(0, sqEntries, 0)
    this.bar.write32(AQA, (sqEntries - 1) | ((cqEntries - 1) << 16))
    this.bar.write64(ASQ, BigInt(sq.memory.iovaAt(0)))
    this.bar.write64(ACQ, BigInt(cq.memory.iovaAt(0)))
  }

  /** Places Admin queues, writes CC and waits for RDY or CFS, at most `readyLimitNs`. Returns CSTS. */
  async enable({ sqEntries = 32, cqEntries = sqEntries, cc = this.enabledCc }: EnableOptions = {}): Promise<number> {
    this.placeAdminQueues(sqEntries, cqEntries)
    this.bar.write32(CC, cc)
    await this.until(() => (this.bar.read32(CSTS) & (RDY | CFS)) !== 0, this.readyLimitNs)
    return this.bar.read32(CSTS)
  }

  /** Waits until the bits `mask` of CSTS are `expected`, at most `readyLimitNs`. */
  async waitForStatus(mask: number, expected: number, why: string): Promise<void> {
    const { readyLimitNs } = this
    if (await this.until(() => (this.bar.read32(CSTS) & mask) === expected, readyLimitNs)) return
    const csts = this.bar.read32(CSTS).toString(16)
    this.fail(
      `${why}: expected CSTS & ${mask.toString(16)}h = ${expected.toString(16)}h within ${readyLimitNs / 1e6} ms, got CSTS ${csts}h`,
    )
  }

  /** Clears CC.EN, waits for RDY = 0 and discards all rings. */
  async disable(): Promise<void> {
    this.bar.write32(CC, (this.bar.read32(CC) & ~EN) >>> 0)
    await this.waitForStatus(RDY, 0, 'CC.EN 1 -> 0')
    this.forgetRings()
  }

  /** Discards all rings, for a controller without queues. */
  forgetRings(): void {
    this.cqs.clear()
    this.sqs.clear()
  }

  /** Adds a zeroed ring for a completion queue, without creating the queue. */
  addCqRing(qid: number, entries: number): CqRing<M> {
    // A Phase Tag of 1 would read as a completion on the first lap.
    const cq = new CqRing(qid, this.allocRing(entries * CQE_BYTES, 0), entries)
    this.cqs.set(qid, cq)
    return cq
  }

  /** Adds a ring for a submission queue, without creating the queue. */
  addSqRing(qid: number, entries: number, cqid: number): SqRing<M> {
    const sq = new SqRing(qid, this.allocRing(entries * SQE_BYTES, 0xff), entries, cqid)
    this.sqs.set(qid, sq)
    return sq
  }

  /** Creates a completion queue; its status must be success. CDW11 is PC by default, without interrupts. */
  async createCq(qid: number, entries: number, cdw11?: number): Promise<void> {
    const { memory } = this.addCqRing(qid, entries)
    this.succeed('Create I/O Completion Queue', await this.admin(createCqEntry(qid, entries, memory.iovaAt(0), cdw11)))
  }

  /** Creates a submission queue; its status must be success. */
  async createSq(qid: number, entries: number, cqid: number): Promise<void> {
    const { memory } = this.addSqRing(qid, entries, cqid)
    this.succeed('Create I/O Submission Queue', await this.admin(createSqEntry(qid, entries, cqid, memory.iovaAt(0))))
  }

  /** Creates CQ and SQ `qid`, of `entries` each. */
  async createPair(qid: number, entries: number): Promise<void> {
    await this.createCq(qid, entries)
    await this.createSq(qid, entries, qid)
  }

  /** Writes an entry at the tail without ringing. Returns its CID. */
  stage(qid: number, entry: Entry): number {
    const cid = entry.cid ?? this.freshCid()
    this.sqs.get(qid)!.stage(entry, cid)
    return cid
  }

  /** Writes a tail doorbell. Default: the tail of the staged entries. */
  ringTail(qid: number, tail = this.sqs.get(qid)!.tail): void {
    this.bar.write32(tailDoorbell(qid, this.strideBytes), tail)
  }

  /** Writes a head doorbell. Default: the head of the consumed entries. */
  ringHead(qid: number, head = this.cqs.get(qid)!.head): void {
    this.bar.write32(headDoorbell(qid, this.strideBytes), head)
  }

  /** Stages an entry and rings the doorbell. Returns its CID. */
  submit(qid: number, entry: Entry): number {
    const cid = this.stage(qid, entry)
    this.ringTail(qid)
    return cid
  }

  /** Consumes new completions, at most `max`, and rings the head doorbell for them unless `ring` is false. */
  poll(cqid: number, { ring = true, max = Infinity }: { ring?: boolean; max?: number } = {}): C[] {
    const cq = this.cqs.get(cqid)!
    const found: C[] = []
    // A queue of n entries holds n - 1. The limit ends the loop even if a controller never changes the Phase Tag.
    while (found.length < Math.min(cq.entries - 1, max)) {
      const entry = cq.take()
      if (entry === undefined) break
      found.push(this.report(entry))
    }
    if (ring && found.length > 0) this.ringHead(cqid)
    return found
  }

  /** Waits for `count` completions of `cqid`, which must arrive within the limit of a command. */
  async collect(cqid: number, count: number): Promise<C[]> {
    const found: C[] = []
    const hasAll = () => {
      for (const completion of this.poll(cqid)) found.push(completion)
      return found.length >= count
    }
    if (await this.until(hasAll)) return found
    const csts = this.bar.read32(CSTS).toString(16)
    const limit = this.commandLimitNs / 1e9
    return this.fail(
      `CQ ${cqid}: expected ${count} completions within ${limit} s, got ${found.length}; CSTS is ${csts}h`,
    )
  }

  /** Submits one command and returns the next completion of its queue. */
  async command(qid: number, entry: Entry): Promise<C> {
    this.submit(qid, entry)
    return (await this.collect(this.sqs.get(qid)!.cqid, 1))[0]!
  }

  /** Submits one Admin command and returns its completion. */
  admin(entry: Entry): Promise<C> {
    return this.command(0, entry)
  }

  /** Fails unless the status is success. */
  protected succeed(what: string, { status }: C): void {
    if (status !== '0/00') this.fail(`${what}: expected status 0/00 (SCT/SC), got ${status}`)
  }

  private freshCid(): number {
    // FFFFh should not be used (Base 2.3 §4.1.1).
    const cid = this.nextCid
    this.nextCid = (cid + 1) % 0xffff
    return cid
  }
}
