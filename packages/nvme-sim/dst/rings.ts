import type { DmaAllocator } from '@gpunvme/nvme-spec/transport'
import { CQE_BYTES, SQE_BYTES, type Completion, type Entry } from '../conformance/raw-host/entry.js'
import * as raw from '../conformance/raw-host/rings.js'
import type { Doorbells } from './doorbells.js'
import { Region } from './region.js'

/** A completion queue whose ring the campaign checks. */
export class CqRing extends raw.CqRing<Region> {
  /** Whether a fault has posted an entry with a wrong Phase Tag, for which the host waits forever. */
  isWedged = false
  /** Whether the queue is being deleted. Its doorbell must not be rung, since the queue may already be gone. */
  isClosing = false
  /** Interrupt vector; undefined without interrupts. */
  vector: number | undefined
  /** Whether an interrupt has arrived and the queue has not been emptied since. */
  isSignaled = false
  private written = 0

  constructor(dma: DmaAllocator, qid: number, entries: number) {
    super(qid, new Region(dma, `the ring of CQ ${qid}`, entries * CQE_BYTES, true), entries)
  }

  override take(): Completion | undefined {
    const at = this.head * CQE_BYTES
    const entry = super.take()
    if (entry) this.memory.accept(at, CQE_BYTES)
    return entry
  }

  /** Whether the head differs from the last value written to the doorbell. */
  get hasNews(): boolean {
    return this.head !== this.written
  }

  ring(doorbells: Doorbells, isForced = false, head = this.head): void {
    if (head === this.head) this.written = head
    doorbells.ring(this.qid, false, head, this.entries, isForced)
  }
}

/** A submission queue whose ring the campaign checks. */
export class SqRing extends raw.SqRing<Region> {
  readonly cq: CqRing
  /** SQHD of the last completion. */
  head = 0
  /** Whether the host has written an invalid tail: the controller fetches no more entries from the queue. */
  isHalted = false
  /** Numbers of entries since the queue was created: staged, announced by the doorbell, consumed according to SQHD. */
  private staged = 0
  private announced = 0
  private consumed = 0

  constructor(dma: DmaAllocator, qid: number, entries: number, cq: CqRing) {
    super(qid, new Region(dma, `the ring of SQ ${qid}`, entries * SQE_BYTES, true), entries, cq.qid)
    this.cq = cq
  }

  override stage(entry: Entry, cid: number): void {
    const at = this.tail * SQE_BYTES
    super.stage(entry, cid)
    this.memory.accept(at, SQE_BYTES)
    this.staged++
  }

  /** Whether entries were staged since the last doorbell write. */
  get hasNews(): boolean {
    return this.announced !== this.staged
  }

  ring(doorbells: Doorbells, isForced = false, tail = this.tail): void {
    if (tail === this.tail) this.announced = this.staged
    doorbells.ring(this.qid, true, tail, this.entries, isForced)
  }

  /** Applies the SQHD of a completion; returns false if it is invalid or beyond the announced entries. */
  takeHead(sqhd: number): boolean {
    const more = (sqhd - this.head + this.entries) % this.entries
    if (sqhd >= this.entries || this.consumed + more > this.announced) return false
    this.consumed += more
    this.head = sqhd
    return true
  }
}
