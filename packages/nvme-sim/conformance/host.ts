import type { Transport } from '@gpunvme/nvme-spec/transport'
import type { Completion, Entry } from './raw-host/entry.js'
import { HostBase, type EnableOptions } from './raw-host/host-base.js'
import { CC, CFS, CSTS, EN, RDY } from './raw-host/registers.js'
import { describe, type Completed } from './completed.js'
import { fail, notApplicable, success } from './check.js'
import { registerFacts, type ControllerFacts, type RegisterFacts } from './facts.js'
import { CaseMemory, type CaseMemoryRequest } from './memory.js'
import { Patience } from './patience.js'

/** Time without activity after which the host assumes that none will follow. */
const SETTLE_NS = 50e6

/** Options of `CaseHost`. */
export interface HostOptions {
  /** Time limit of a command, by the transport's clock. Default: 10 s. */
  readonly commandLimitNs?: number
}

/**
 * The raw host of the controller cases. Every wait ends, even if the clock does not advance, and every allocation is
 * between canaries. `runControllerCase` limits waits for promises of the transport.
 */
export class CaseHost extends HostBase<CaseMemory, Completed> {
  readonly registers: RegisterFacts
  /** Queues granted by Number of Queues at the last `start`. */
  grantedSqs = 0
  grantedCqs = 0
  /** Alignment of allocations: the memory page, until a case enables the controller with a larger one. */
  alignBytes: number
  private readonly learned: ControllerFacts | undefined
  private readonly memories: CaseMemory[] = []
  private readonly patience: Patience
  private isGivenUp = false
  /** Descriptions of submitted commands, by SQ and CID. */
  private readonly requests = new Map<string, string>()

  constructor(transport: Transport, facts?: ControllerFacts, { commandLimitNs }: HostOptions = {}) {
    super(transport, commandLimitNs)
    this.registers = registerFacts(transport, this.cap, this.readyLimitNs)
    this.learned = facts
    this.patience = new Patience(transport.clock)
    this.alignBytes = this.pageBytes
  }

  /** Properties of the controller, collected before the case. */
  get facts(): ControllerFacts {
    return this.learned ?? fail('the controller has not been identified yet')
  }

  /** Allocates contiguous memory, aligned to the memory page, every byte a5h. */
  alloc(lengthBytes: number, request: CaseMemoryRequest = {}): CaseMemory {
    const memory = new CaseMemory(this.transport.dma, lengthBytes, { alignBytes: this.alignBytes, ...request })
    this.memories.push(memory)
    return memory
  }

  /**
   * Lets time pass until `condition` holds; false if it does not within `limitNs`.
   * @throws CheckFailed if the clock does not advance, and if the condition holds at the deadline but `Clock.idle` did
   *   not return when it began to hold: a driver would lose the whole time.
   */
  override async until(condition: () => boolean, limitNs = this.commandLimitNs): Promise<boolean> {
    const endNs = this.clock.now() + limitNs
    this.patience.begin()
    while (!condition()) {
      if (this.clock.now() >= endNs) return false
      if (this.isGivenUp) fail('the case was stopped at its time limit')
      await this.patience.idle(endNs)
      if (this.clock.now() < endNs) continue
      if (condition())
        fail(
          `the awaited condition held, but Clock.idle did not return for it: the wait took the whole ${limitNs / 1e9} s`,
        )
      return false
    }
    return true
  }

  /** Waits until activity of the controller has ended. */
  async settle(ns = SETTLE_NS): Promise<void> {
    await this.until(() => false, ns)
  }

  /** Enables the controller, which must become ready, and requests the maximum number of I/O queues. */
  async start(options?: EnableOptions): Promise<void> {
    const csts = await this.enable(options)
    if ((csts & (RDY | CFS)) !== RDY)
      fail(`CC.EN = 1: expected CSTS.RDY = 1 and CFS = 0, got CSTS ${csts.toString(16)}h`)
    // Set Features, Number of Queues: FFFEh is the maximum request.
    const granted = await this.admin({ opcode: 0x09, cdw: { 10: 0x07, 11: 0xfffe_fffe } })
    success(granted)
    this.grantedSqs = (granted.dw0 & 0xffff) + 1
    this.grantedCqs = (granted.dw0 >>> 16) + 1
  }

  /** Calls `start`, then creates queue pair 1. */
  async startWithPair(entries = Math.min(64, this.registers.maxQueueEntries)): Promise<void> {
    await this.start()
    await this.createPair(1, entries)
  }

  /** Creates a completion queue without interrupts; its status must be success. CDW11 is PC by default. */
  override createCq(qid: number, entries: number, cdw11?: number): Promise<void> {
    this.needEntries(entries)
    return super.createCq(qid, entries, cdw11)
  }

  /** Creates a submission queue; its status must be success. */
  override createSq(qid: number, entries: number, cqid: number): Promise<void> {
    this.needEntries(entries)
    return super.createSq(qid, entries, cqid)
  }

  /** Sends Delete I/O Submission Queue; any status is allowed. */
  deleteSq(qid: number): Promise<Completed> {
    return this.admin({ opcode: 0x00, cdw: { 10: qid } })
  }

  /** Sends Delete I/O Completion Queue; any status is allowed. */
  deleteCq(qid: number): Promise<Completed> {
    return this.admin({ opcode: 0x04, cdw: { 10: qid } })
  }

  /** Writes an entry at the tail without ringing. Returns its CID. */
  override stage(qid: number, entry: Entry): number {
    const cid = super.stage(qid, entry)
    this.requests.set(`${qid}/${cid}`, describe(qid, entry))
    return cid
  }

  /** Submits one command and returns its completion, which must be the only one on its queue. */
  override async command(qid: number, entry: Entry): Promise<Completed> {
    const cid = this.submit(qid, entry)
    const [completed, ...others] = await this.collect(this.sqs.get(qid)!.cqid, 1)
    const expected = `${this.words(qid, cid)}: expected one completion, of SQ ${qid} CID ${cid}`
    const isOwn = (each: Completed) => each.cid === cid && each.sqid === qid
    const stranger = [completed!, ...others].find((each) => !isOwn(each))
    if (stranger) fail(`${expected}, got one of SQ ${stranger.sqid} CID ${stranger.cid}`)
    if (others.length > 0) fail(`${expected}, got ${others.length + 1} of it`)
    return completed!
  }

  /** Checks that no completion is posted to a queue until activity has ended. */
  async expectQuiet(cqid: number, why: string): Promise<void> {
    await this.settle()
    const [first] = this.poll(cqid)
    if (first) fail(`${why}: expected no completion, got status ${first.status} for: ${first.request}`)
  }

  /** @throws CheckFailed if the controller wrote outside of the allocations. */
  checkMemory(): void {
    for (const memory of this.memories) memory.checkCanaries()
  }

  /** Stops the controller as far as possible, and frees all memory. */
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

  /** Ends a case that has exceeded its time limit: its next wait fails. */
  giveUp(): void {
    this.isGivenUp = true
  }

  protected allocRing(lengthBytes: number, fill: number): CaseMemory {
    return this.alloc(lengthBytes, { fill })
  }

  protected report(completion: Completion): Completed {
    return { ...completion, request: this.words(completion.sqid, completion.cid) }
  }

  protected override fail(message: string): never {
    fail(message)
  }

  protected override succeed(_: string, completed: Completed): void {
    success(completed)
  }

  private needEntries(entries: number): void {
    const { maxQueueEntries } = this.registers
    if (entries > maxQueueEntries) notApplicable(`CAP.MQES allows ${maxQueueEntries} entries`)
  }

  private words(sqid: number, cid: number): string {
    return this.requests.get(`${sqid}/${cid}`) ?? `a command that was never submitted (SQ ${sqid}, CID ${cid})`
  }
}
