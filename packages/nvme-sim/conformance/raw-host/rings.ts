import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { CQE_BYTES, readCompletion, SQE_BYTES, writeEntry, type Completion, type Entry } from './entry.js'

/** Contiguous DMA memory that the host can read and write. */
export type RingMemory = Pick<DmaMemory, 'iovaAt' | 'forDevice' | 'forHost'> & { readonly view: DataView }

/** The host's side of a submission queue. */
export class SqRing<M extends RingMemory = RingMemory> {
  readonly qid: number
  readonly memory: M
  readonly entries: number
  readonly cqid: number
  /** Index of the next entry that the host writes. */
  tail = 0

  constructor(qid: number, memory: M, entries: number, cqid: number) {
    this.qid = qid
    this.memory = memory
    this.entries = entries
    this.cqid = cqid
  }

  /** Writes an entry at the tail without ringing the doorbell. */
  stage(entry: Entry, cid: number): void {
    writeEntry(this.memory.view, this.tail * SQE_BYTES, entry, cid)
    this.advance()
  }

  /** Same as `stage` for Read, Write and other commands of their layout, without allocations. */
  stageTransfer(
    opcode: number,
    cid: number,
    nsid: number,
    prp1: number,
    prp2: number,
    slba: number,
    blocks: number,
  ): void {
    const { view } = this.memory
    const at = this.tail * SQE_BYTES
    view.setUint32(at, (opcode | (cid << 16)) >>> 0, true)
    view.setUint32(at + 4, nsid, true)
    for (let dword = 2; dword < 6; dword++) view.setUint32(at + 4 * dword, 0, true)
    set64(view, at + 24, prp1)
    set64(view, at + 32, prp2)
    set64(view, at + 40, slba)
    view.setUint32(at + 48, blocks - 1, true)
    for (let dword = 13; dword < 16; dword++) view.setUint32(at + 4 * dword, 0, true)
    this.advance()
  }

  private advance(): void {
    this.memory.forDevice(this.tail * SQE_BYTES, SQE_BYTES)
    this.tail = this.tail + 1 === this.entries ? 0 : this.tail + 1
  }
}

/** The host's side of a completion queue. */
export class CqRing<M extends RingMemory = RingMemory> {
  readonly qid: number
  readonly memory: M
  readonly entries: number
  /** Index of the next entry that the host reads. */
  head = 0
  /** Phase Tag of a new entry on this pass through the queue. */
  phase = 1

  constructor(qid: number, memory: M, entries: number) {
    this.qid = qid
    this.memory = memory
    this.entries = entries
  }

  /** Returns DW3 of the entry at the head, or -1 if its Phase Tag is not new, without allocations. */
  peek(): number {
    const at = this.head * CQE_BYTES
    this.memory.forHost(at, CQE_BYTES)
    const dw3 = this.memory.view.getUint32(at + 12, true)
    return ((dw3 >>> 16) & 1) === this.phase ? dw3 : -1
  }

  /** Consumes the entry at the head. */
  advance(): void {
    this.head = this.head + 1 === this.entries ? 0 : this.head + 1
    if (this.head === 0) this.phase ^= 1
  }

  /** Consumes and decodes the entry at the head; returns undefined if it is not new. */
  take(): Completion | undefined {
    if (this.peek() < 0) return undefined
    const entry = readCompletion(this.memory.view, this.head * CQE_BYTES)
    this.advance()
    return entry
  }
}

/** Writes a 64-bit value below 2^53 without a bigint. */
function set64(view: DataView, at: number, value: number): void {
  view.setUint32(at, value % 2 ** 32, true)
  view.setUint32(at + 4, Math.floor(value / 2 ** 32), true)
}
