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
  /** The upper half of CQE DW3, with the Phase Tag left zero. */
  status: number
  dw0: number
  dw1: number
  /** When its command was fetched. */
  fetchedNs: number
  /** What a fault of the plan makes wrong in the entry: bits that flip. */
  damage?: CqeDamage | undefined
}

/** Bits to flip in a completion queue entry. */
export interface CqeDamage {
  readonly sqhd: number
  readonly sqid: number
  readonly phase: number
}

/** A part of a completion queue: its bytes, its entries, and their dwords. */
function viewEntries(piece: Uint8Array) {
  const ring = new DataView(piece.buffer, piece.byteOffset, piece.length)
  const dwords = new Int32Array(piece.buffer, piece.byteOffset, piece.length / 4)
  return { ring, entry: CQE.view(ring), dwords }
}

/** A part of a submission queue: its dwords. */
function viewDwords(piece: Uint8Array) {
  return { dwords: new Uint32Array(piece.buffer, piece.byteOffset, piece.length / 4) }
}

const UNDAMAGED: CqeDamage = { sqhd: 0, sqid: 0, phase: 0 }

/** The controller's side of a completion queue: posts entries, and waits where the host leaves no slot free. */
export class CompletionQueue {
  readonly qid: number
  readonly entries: number
  readonly iova: number
  /** Submission queues that complete to this queue; it cannot be deleted while there are any. */
  submissionQueues = 0
  /** Completions that found the queue full, oldest first (Base 2.1 §3.3.1.2.1). */
  held: Completion[] = []
  /** Undefined where the host wants no interrupts for this queue. */
  readonly vector: InterruptVector | undefined
  /** Where its entries lie, and the part that was used last: all of it, nearly always. */
  private parts!: readonly RingPart<ReturnType<typeof viewEntries>>[]
  private part!: RingPart<ReturnType<typeof viewEntries>>
  /** The host's head in memory of its own, where it was given some (Base 2.1 §5.2.5). */
  shadow: ShadowDoorbell | undefined
  /** Where the host stands, as it has said by its doorbell. */
  head = 0
  private tail = 0
  private phase = 1

  /** @param pieces its memory, in as many pieces as `ReachableMemory` has of it. */
  constructor(qid: number, entries: number, iova: number, pieces: readonly Uint8Array[], vector?: InterruptVector) {
    this.qid = qid
    this.entries = entries
    this.iova = iova
    this.vector = vector
    this.useMemory(pieces)
  }

  /** How many bytes its entries take. */
  get lengthBytes(): number {
    return this.entries * CQE_BYTES
  }

  /** The bytes at `iova` are these from now on. */
  useMemory(pieces: readonly Uint8Array[]): void {
    this.parts = ringParts(pieces, CQE_BYTES, viewEntries)
    this.part = this.parts[0]!
  }

  /** The part of it with the entry that was posted last: its bytes, and which entry is the first of them. */
  get lastPart(): { readonly ring: DataView; readonly first: number } {
    return this.part
  }

  /** Entries that would be taken for new ones: the host clears every Phase Tag first (Base 2.1 §4.2.4). */
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

  /** Entries that were posted and not released. */
  get posted(): number {
    return (this.tail - this.head + this.entries) % this.entries
  }

  /** Whether the host has taken every entry that was posted. */
  isEmpty(): boolean {
    return this.tail === this.head
  }

  /**
   * Writes the entry at the tail. The dword with the Phase Tag is last, since it makes the entry valid, and atomic,
   * since the host may be another thread that looks for it. Returns the entry's index.
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
    if (this.vector !== undefined) this.vector.waiting++
    return index
  }

  /** The host's head doorbell. An impossible value changes nothing, and what is wrong with it is returned. */
  release(head: number): string | undefined {
    if (head >= this.entries) return `CQ ${this.qid} has ${this.entries} entries`
    const released = (head - this.head + this.entries) % this.entries
    const { posted } = this
    if (released > posted) return `that releases ${released} entries, and only ${posted} were posted`
    this.head = head
    if (this.vector !== undefined) this.vector.waiting -= released
    return undefined
  }

  /**
   * Sees what the host has released without ringing, and has it ring for what it releases next: the pin stays active until
   * then, and a host that is not asked to would be interrupted for ever.
   */
  expectRelease(): void {
    const { shadow } = this
    if (shadow === undefined) return
    this.follow(shadow)
    while (!this.isEmpty() && shadow.askFrom(this.head)) this.follow(shadow)
  }

  /** Drops what waits for a slot of a submission queue that is gone: nothing is posted for it any more. */
  discard(sq: SubmissionQueue): void {
    this.held = this.held.filter((completion) => completion.sq !== sq)
  }

  /** The queue goes: its entries are nothing to interrupt for any more. */
  acknowledgeAll(): void {
    if (this.vector !== undefined) this.vector.waiting -= this.posted
    this.head = this.tail
  }

  private hasNoSlot(): boolean {
    return (this.tail + 1) % this.entries === this.head
  }

  /** Looks whether the host has moved on without ringing; asks it to ring from here on where it has not. */
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

/** The controller's side of a submission queue: entries are fetched in order from head to tail. */
export class SubmissionQueue {
  readonly qid: number
  readonly entries: number
  readonly cq: CompletionQueue
  readonly iova: number
  /** QPRIO: its class, where arbitration is weighted (Base 2.1 §5.2.2): 0 is Urgent, 3 is Low. */
  readonly priority: number
  /** Of the commands that were fetched and have no completion yet. */
  readonly inFlight = new CommandIdentifiers()
  head = 0
  tail = 0
  /** Nothing is fetched any more: the host has written an impossible tail (Base 2.1 §3.3.1.2). */
  isHalted = false
  /** The host's tail in memory of its own, where it was given some (Base 2.1 §5.2.5). */
  shadow: ShadowDoorbell | undefined
  /** Where its entries lie, and the part that was used last: all of it, nearly always. */
  private parts!: readonly RingPart<ReturnType<typeof viewDwords>>[]
  private part!: RingPart<ReturnType<typeof viewDwords>>

  /** @param pieces its memory, in as many pieces as `ReachableMemory` has of it. */
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

  /** How many bytes its entries take. */
  get lengthBytes(): number {
    return this.entries * SQE_BYTES
  }

  /** The bytes at `iova` are these from now on. */
  useMemory(pieces: readonly Uint8Array[]): void {
    this.parts = ringParts(pieces, SQE_BYTES, viewDwords)
    this.part = this.parts[0]!
  }

  isEmpty(): boolean {
    return this.head === this.tail
  }

  /** Whether a command may be taken from it now. */
  isEligible(): boolean {
    if (this.isHalted || this.cq.held.length > 0) return false
    return this.head !== this.tail || (this.shadow !== undefined && this.look(this.shadow))
  }

  /** Copies the entry at the head into `into` and consumes it. */
  take(into: Uint32Array): void {
    const { head } = this
    if (head < this.part.first || head >= this.part.end) this.part = partOf(this.parts, head)
    const { dwords, first } = this.part
    const from = (head - first) * SQE_DWORDS
    for (let i = 0; i < SQE_DWORDS; i++) into[i] = dwords[from + i]!
    this.head = head + 1 === this.entries ? 0 : head + 1
  }

  /** The host's tail doorbell. An impossible value changes nothing, and what is wrong with it is returned. */
  submit(tail: number): string | undefined {
    const { entries, head } = this
    if (tail >= entries) return `SQ ${this.qid} has ${entries} entries`
    const added = (tail - this.tail + entries) % entries
    const free = (head - this.tail - 1 + entries) % entries
    if (added > free) return `that adds ${added} entries, and only ${free} are free`
    this.tail = tail
    return undefined
  }

  /** Looks whether the host has moved on without ringing; asks it to ring from here on where it has not. */
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
