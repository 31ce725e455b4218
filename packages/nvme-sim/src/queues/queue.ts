import { CQE } from '@gpunvme/nvme-spec'

export const SQE_BYTES = 64
export const CQE_BYTES = 16

/** A completion on its way to the host. */
export interface Completion {
  readonly sq: SubmissionQueue
  readonly cid: number
  /** The upper half of CQE DW3, with the Phase Tag left zero. */
  readonly status: number
  readonly dw0: number
}

/** The controller's side of a completion queue: posts entries, and waits where the host leaves no slot free. */
export class CompletionQueue {
  readonly qid: number
  readonly entries: number
  readonly iova: number
  /** Submission queues that complete to this queue; it cannot be deleted while there are any. */
  submissionQueues = 0
  /** Completions that found the queue full, oldest first (Base 2.1 §3.3.1.2.1). */
  readonly held: Completion[] = []
  private readonly ring: ReturnType<typeof CQE.view>
  private head = 0
  private tail = 0
  private phase = 1

  constructor(qid: number, entries: number, iova: number, memory: Uint8Array) {
    this.qid = qid
    this.entries = entries
    this.iova = iova
    this.ring = CQE.view(new DataView(memory.buffer, memory.byteOffset, memory.length))
  }

  isFull(): boolean {
    return (this.tail + 1) % this.entries === this.head
  }

  /** Writes the entry at the tail. The dword with the Phase Tag is last, since it makes the entry valid. */
  post({ sq, cid, status, dw0 }: Completion): void {
    const entry = this.ring.at(this.tail)
    entry.DW0 = dw0
    entry.DW1 = 0
    entry.SQHD = sq.head
    entry.SQID = sq.qid
    entry.CID = cid
    entry.STATUS = status | this.phase
    this.tail = (this.tail + 1) % this.entries
    if (this.tail === 0) this.phase ^= 1
  }

  /** The host's head doorbell. An impossible value changes nothing, and what is wrong with it is returned. */
  release(head: number): string | undefined {
    if (head >= this.entries) return `CQ ${this.qid} has ${this.entries} entries`
    const released = (head - this.head + this.entries) % this.entries
    const posted = (this.tail - this.head + this.entries) % this.entries
    if (released > posted) return `that releases ${released} entries, and only ${posted} were posted`
    this.head = head
    return undefined
  }
}

/** The controller's side of a submission queue: entries are fetched in order from head to tail. */
export class SubmissionQueue {
  readonly qid: number
  readonly entries: number
  readonly cq: CompletionQueue
  readonly iova: number
  head = 0
  private tail = 0

  constructor(qid: number, entries: number, iova: number, cq: CompletionQueue) {
    this.qid = qid
    this.entries = entries
    this.iova = iova
    this.cq = cq
  }

  isEmpty(): boolean {
    return this.head === this.tail
  }

  /** Device address of the entry at the head, which is consumed by this. */
  consume(): number {
    const at = this.iova + this.head * SQE_BYTES
    this.head = this.head + 1 === this.entries ? 0 : this.head + 1
    return at
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
}
