import type { DmaAllocator } from '@gpunvme/nvme-spec/transport'
import { CQE_BYTES, SQE_BYTES, type Completion, type Entry } from '../conformance/raw-host/entry.js'
import * as raw from '../conformance/raw-host/rings.js'
import type { Doorbells } from './doorbells.js'
import { Region } from './region.js'

/** A completion queue whose ring the campaign checks. */
export class CqRing extends raw.CqRing<Region> {
  /** A fault has posted an entry with a wrong Phase Tag, at which the host waits forever. */
  isWedged = false
  /** The queue is being deleted: its doorbell must not be rung, since the host learns of the deletion too late. */
  isClosing = false
  /** Its interrupt vector; undefined without interrupts. */
  vector: number | undefined
  /** Its interrupt has arrived, and it has not been emptied since. */
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
  /** The host has written an invalid tail: the queue is no longer fetched from. */
  isHalted = false
  /** Entries since the queue was created: staged, announced by the doorbell, and consumed according to SQHD. */
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

  /** Entries were staged since the last doorbell write. */
  get hasNews(): boolean {
    return this.announced !== this.staged
  }

  ring(doorbells: Doorbells, isForced = false, tail = this.tail): void {
    if (tail === this.tail) this.announced = this.staged
    doorbells.ring(this.qid, true, tail, this.entries, isForced)
  }

  /** Applies the SQHD of a completion; returns false if the controller cannot have consumed that much. */
  takeHead(sqhd: number): boolean {
    const more = (sqhd - this.head + this.entries) % this.entries
    if (sqhd >= this.entries || this.consumed + more > this.announced) return false
    this.consumed += more
    this.head = sqhd
    return true
  }
}
