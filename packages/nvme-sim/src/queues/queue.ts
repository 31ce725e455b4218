import { CQE } from '@gpunvme/nvme-spec'
import { CommandIdentifiers } from './identifiers.js'
import type { InterruptVector } from './interrupts.js'
import { partOf, ringParts, type RingPart } from './ring-parts.js'
import type { ShadowDoorbell } from './shadow-doorbells.js'

export const SQE_BYTES = 64
export const CQE_BYTES = 16
const SQE_DWORDS = SQE_BYTES / 4

/** A completion on its way to the host. */
export interface Completion {
  sq: SubmissionQueue
  cid: number
  /** The upper half of CQE DW3, with a Phase Tag of 0. */
  status: number
  dw0: number
  dw1: number
  /** Time when its command was fetched. */
  fetchedNs: number
  /** Damage of the entry by a fault of the plan: bits to flip. */
  damage?: CqeDamage | undefined
}

/** Bits to flip in a completion queue entry. */
export interface CqeDamage {
  readonly sqhd: number
  readonly sqid: number
  readonly phase: number
}

/** A range of completion queue entries, as bytes and dwords. */
function viewEntries(piece: Uint8Array) {
  const ring = new DataView(piece.buffer, piece.byteOffset, piece.length)
  const dwords = new Int32Array(piece.buffer, piece.byteOffset, piece.length / 4)
  return { ring, entry: CQE.view(ring), dwords }
}

/** A range of submission queue entries, as dwords. */
function viewDwords(piece: Uint8Array) {
  return { dwords: new Uint32Array(piece.buffer, piece.byteOffset, piece.length / 4) }
}

const UNDAMAGED: CqeDamage = { sqhd: 0, sqid: 0, phase: 0 }

/** The controller's side of a completion queue: posts entries, and holds them while the host leaves no slot free. */
export class CompletionQueue {
  readonly qid: number
  readonly entries: number
  readonly iova: number
  /** Submission queues that complete to this queue; it cannot be deleted while there are any. */
  submissionQueues = 0
  /** Completions that found the queue full, oldest first (Base 2.1 §3.3.1.2.1). */
  held: Completion[] = []
  /** Undefined if interrupts are disabled for this queue. */
  readonly vector: InterruptVector | undefined
  /** Location of its entries, and the part used last, which is nearly always the whole queue. */
  private parts!: readonly RingPart<ReturnType<typeof viewEntries>>[]
  private part!: RingPart<ReturnType<typeof viewEntries>>
  /** The host's head in host memory, if configured (Base 2.1 §5.2.5). */
  shadow: ShadowDoorbell | undefined
  /** The head that the host has written to its doorbell. */
  head = 0
  private tail = 0
  private phase = 1
  private isFirstLap = true

  /** @param pieces its memory, as returned by `ReachableMemory`. */
  constructor(qid: number, entries: number, iova: number, pieces: readonly Uint8Array[], vector?: InterruptVector) {
    this.qid = qid
    this.entries = entries
    this.iova = iova
    this.vector = vector
    this.useMemory(pieces)
  }

  /** Length of its entries in bytes. */
  get lengthBytes(): number {
    return this.entries * CQE_BYTES
  }

  /** Sets the memory at `iova` from now on. */
  useMemory(pieces: readonly Uint8Array[]): void {
    this.parts = ringParts(pieces, CQE_BYTES, viewEntries)
    this.part = this.parts[0]!
  }

  /** The part with the entry posted last, and the index of its first entry. */
  get lastPart(): { readonly ring: DataView; readonly first: number } {
    return this.part
  }

  /** Counts entries that would be read as new: the host must clear every Phase Tag first (Base 2.1 §4.2.4). */
  countStaleEntries(): number {
    let stale = 0
    for (const { dwords } of this.parts) {
      for (let at = 3; at < dwords.length; at += 4) stale += (dwords[at]! >>> 16) & 1
    }
    return stale
  }

  isFull(): boolean {
    return this.hasNoSlot() && (this.shadow === undefined || this.look(this.shadow))
  }

  /** Number of entries posted and not released. */
  get posted(): number {
    return (this.tail - this.head + this.entries) % this.entries
  }

  /** Whether the host has released every posted entry. */
  isEmpty(): boolean {
    return this.tail === this.head
  }

  /**
   * Writes the entry at the tail. The dword with the Phase Tag is stored last, since it makes the entry valid, and
   * atomically, since the host may poll it from another thread. Returns the entry's index.
   */
  post({ sq, cid, status, dw0, dw1, damage = UNDAMAGED }: Completion): number {
    const index = this.tail
    if (index < this.part.first || index >= this.part.end) this.part = partOf(this.parts, index)
    const { part } = this
    const place = index - part.first
    const entry = part.entry.at(place)
    entry.DW0 = dw0
    entry.DW1 = dw1
    entry.SQHD = sq.head ^ damage.sqhd
    entry.SQID = sq.qid ^ damage.sqid
    Atomics.store(part.dwords, place * 4 + 3, cid | ((status | (this.phase ^ damage.phase)) << 16))
    this.tail = index + 1 === this.entries ? 0 : index + 1
    if (this.tail === 0) this.phase ^= 1
    if (this.tail === 0) this.isFirstLap = false
    if (this.vector !== undefined) this.vector.waiting++
    return index
  }

  /** Returns the entry posted `back` entries ago, 1 for the last one; undefined if it is not in the queue. */
  earlier(back: number): { sqid: number; cid: number; status: number; dw0: number; dw1: number } | undefined {
    if (back > (this.isFirstLap ? this.tail : this.entries)) return undefined
    const index = (this.tail - back + this.entries) % this.entries
    const { entry, first } = partOf(this.parts, index)
    const { SQID: sqid, CID: cid, STATUS, DW0: dw0, DW1: dw1 } = entry.at(index - first)
    return { sqid, cid, status: STATUS & ~1, dw0, dw1 }
  }

  /** The host's head doorbell. An invalid value has no effect; the reason is returned. */
  release(head: number): string | undefined {
    if (head >= this.entries) return `CQ ${this.qid} has ${this.entries} entries`
    const released = (head - this.head + this.entries) % this.entries
    const { posted } = this
    if (released > posted) return `it releases ${released} entries, more than the ${posted} posted`
    this.head = head
    if (this.vector !== undefined) this.vector.waiting -= released
    return undefined
  }

  /**
   * Polls the shadow doorbell, and requests a doorbell write for the next release: the pin stays active until then, and
   * a host without a reason to ring would be interrupted forever.
   */
  expectRelease(): void {
    const { shadow } = this
    if (shadow === undefined) return
    this.follow(shadow)
    while (!this.isEmpty() && shadow.askFrom(this.head)) this.follow(shadow)
  }

  /** Drops held completions of a deleted submission queue. */
  discard(sq: SubmissionQueue): void {
    this.held = this.held.filter((completion) => completion.sq !== sq)
  }

  /** The queue is deleted: its entries no longer cause interrupts. */
  acknowledgeAll(): void {
    if (this.vector !== undefined) this.vector.waiting -= this.posted
    this.head = this.tail
  }

  private hasNoSlot(): boolean {
    return (this.tail + 1) % this.entries === this.head
  }

  /** Polls the shadow doorbell; if it is unchanged, requests a doorbell write from here on. */
  private look(shadow: ShadowDoorbell): boolean {
    this.follow(shadow)
    if (!this.hasNoSlot()) return false
    if (shadow.askFrom(this.head)) this.follow(shadow)
    return this.hasNoSlot()
  }

  private follow(shadow: ShadowDoorbell): void {
    const head = shadow.poll()
    if (head === undefined || head === this.head) return
    const mistake = this.release(head)
    if (mistake !== undefined) shadow.report(head, mistake)
  }
}

/** The controller's side of a submission queue: fetches entries in order from head to tail. */
export class SubmissionQueue {
  readonly qid: number
  readonly entries: number
  readonly cq: CompletionQueue
  readonly iova: number
  /** QPRIO: its class in weighted arbitration (Base 2.1 §5.2.2): 0 is Urgent, 3 is Low. */
  readonly priority: number
  /** Identifiers of commands that were fetched and have no completion yet. */
  readonly inFlight = new CommandIdentifiers()
  head = 0
  tail = 0
  /** Fetching has stopped: the host has written an invalid tail (Base 2.1 §3.3.1.2). */
  isHalted = false
  /** The host's tail in host memory, if configured (Base 2.1 §5.2.5). */
  shadow: ShadowDoorbell | undefined
  /** Location of its entries, and the part used last, which is nearly always the whole queue. */
  private parts!: readonly RingPart<ReturnType<typeof viewDwords>>[]
  private part!: RingPart<ReturnType<typeof viewDwords>>

  /** @param pieces its memory, as returned by `ReachableMemory`. */
  constructor(
    qid: number,
    entries: number,
    iova: number,
    pieces: readonly Uint8Array[],
    cq: CompletionQueue,
    priority = 0,
  ) {
    this.qid = qid
    this.priority = priority
    this.entries = entries
    this.iova = iova
    this.cq = cq
    this.useMemory(pieces)
  }

  /** Length of its entries in bytes. */
  get lengthBytes(): number {
    return this.entries * SQE_BYTES
  }

  /** Sets the memory at `iova` from now on. */
  useMemory(pieces: readonly Uint8Array[]): void {
    this.parts = ringParts(pieces, SQE_BYTES, viewDwords)
    this.part = this.parts[0]!
  }

  isEmpty(): boolean {
    return this.head === this.tail
  }

  /** Whether a command may be fetched now. */
  isEligible(): boolean {
    if (this.isHalted || this.cq.held.length > 0) return false
    return this.head !== this.tail || (this.shadow !== undefined && this.look(this.shadow))
  }

  /** Copies the entry at the head to `into` and consumes it. */
  take(into: Uint32Array): void {
    const { head } = this
    if (head < this.part.first || head >= this.part.end) this.part = partOf(this.parts, head)
    const { dwords, first } = this.part
    const from = (head - first) * SQE_DWORDS
    for (let i = 0; i < SQE_DWORDS; i++) into[i] = dwords[from + i]!
    this.head = head + 1 === this.entries ? 0 : head + 1
  }

  /** The host's tail doorbell. An invalid value has no effect; the reason is returned. */
  submit(tail: number): string | undefined {
    const { entries, head } = this
    if (tail >= entries) return `SQ ${this.qid} has ${entries} entries`
    const added = (tail - this.tail + entries) % entries
    const free = (head - this.tail - 1 + entries) % entries
    if (added > free) return `it adds ${added} entries, more than the ${free} free`
    this.tail = tail
    return undefined
  }

  /** Polls the shadow doorbell; if it is unchanged, requests a doorbell write from here on. */
  private look(shadow: ShadowDoorbell): boolean {
    this.follow(shadow)
    if (this.isEmpty() && shadow.askFrom(this.tail)) this.follow(shadow)
    return !this.isEmpty() && !this.isHalted
  }

  private follow(shadow: ShadowDoorbell): void {
    const tail = shadow.poll()
    if (tail === undefined || tail === this.tail) return
    const mistake = this.submit(tail)
    if (mistake === undefined) return
    this.isHalted = true
    shadow.report(tail, mistake)
  }
}
