import { shadowCqHead, shadowSqTail } from '@gpunvme/nvme-spec'
import type { MemoryAccess, ReachableMemory } from '../memory/reachable.js'
import { CompletionQueue, type SubmissionQueue } from './queue.js'

/** Handlers of values found in the buffers. */
export interface ShadowWatch {
  /** The host has written a doorbell in its memory. */
  seen(qid: number, isTail: boolean, value: number): void
  /** The value is invalid. */
  mistaken(qid: number, isTail: boolean, value: number, mistake: string): void
  /** The host has unmapped a buffer that the controller uses. */
  lost(iova: number): void
}

/**
 * The two pages of Doorbell Buffer Config (Base 2.1 §5.2.5). The host writes its doorbells into one; the controller
 * writes into the other up to which value it polls. It polls while it works; before it goes idle, it requests doorbell
 * writes from there on.
 */
export class ShadowDoorbells {
  private readonly pages: ShadowPages
  private readonly stride: number
  private readonly memory: ReachableMemory
  private readonly iovas: readonly [doorbells: number, events: number]
  private readonly pageBytes: number
  private readonly watch: ShadowWatch

  /** Both pages must be memory. */
  constructor(
    memory: ReachableMemory,
    iovas: readonly [doorbells: number, events: number],
    pageBytes: number,
    dstrd: number,
    watch: ShadowWatch,
  ) {
    this.memory = memory
    this.iovas = iovas
    this.pageBytes = pageBytes
    this.stride = dstrd
    this.watch = watch
    this.pages = { doorbells: this.page(0, 'read')!, events: this.page(1, 'write')! }
  }

  /** Memory at the pages' addresses may have changed. Missing pages are detected on the next poll. */
  memoryChanged(): void {
    this.pages.doorbells = this.page(0, 'read') ?? this.pages.doorbells
    this.pages.events = this.page(1, 'write') ?? this.pages.events
  }

  /** Assigns a queue its place in the buffers. */
  attach(queue: SubmissionQueue | CompletionQueue): void {
    const { qid } = queue
    const isTail = !(queue instanceof CompletionQueue)
    const offset = isTail ? shadowSqTail(qid, this.stride) : shadowCqHead(qid, this.stride)
    queue.shadow = new ShadowDoorbell(this.pages, offset / 4, {
      seen: (value) => this.watch.seen(qid, isTail, value),
      mistaken: (value, mistake) => this.watch.mistaken(qid, isTail, value, mistake),
      isThere: () => this.isThere(),
    })
  }

  private page(which: 0 | 1, access: MemoryAccess): Words | undefined {
    const pieces = this.memory.pieces(this.iovas[which], this.pageBytes, access)
    return pieces?.map(({ buffer, byteOffset, length }) => new Int32Array(buffer, byteOffset, length / 4))
  }

  private isThere(): boolean {
    const [doorbells, events] = this.iovas
    const lost = !this.memory.has(doorbells, this.pageBytes)
      ? doorbells
      : !this.memory.has(events, this.pageBytes, 'write')
        ? events
        : undefined
    if (lost !== undefined) this.watch.lost(lost)
    return lost === undefined
  }
}

/** Both pages, as currently mapped. */
interface ShadowPages {
  doorbells: Words
  events: Words
}

/** The dwords of a page, as contiguous pieces: one, except for large pages. */
type Words = readonly Int32Array[]

function loadWord(words: Words, index: number): number {
  let [piece, at] = [0, index]
  while (at >= words[piece]!.length) at -= words[piece++]!.length
  return Atomics.load(words[piece]!, at)
}

function storeWord(words: Words, index: number, value: number): void {
  let [piece, at] = [0, index]
  while (at >= words[piece]!.length) at -= words[piece++]!.length
  Atomics.store(words[piece]!, at, value)
}

/** One doorbell in host memory. */
export class ShadowDoorbell {
  private readonly pages: ShadowPages
  private readonly index: number
  private readonly hooks: {
    seen(value: number): void
    mistaken(value: number, mistake: string): void
    isThere(): boolean
  }
  /** Value of the last poll: a host that does not use the shadow doorbell of this queue leaves it unchanged. */
  private last: number
  private event: number | undefined
  /** The host has written here: it uses the shadow doorbell of this queue. */
  private isUsed = false

  constructor(pages: ShadowPages, index: number, hooks: ShadowDoorbell['hooks']) {
    this.pages = pages
    this.index = index
    this.hooks = hooks
    this.last = loadWord(pages.doorbells, index)
  }

  /** Returns the value if the host has written a new one. */
  poll(): number | undefined {
    if (!this.hooks.isThere()) return undefined
    const value = loadWord(this.pages.doorbells, this.index)
    if (value === this.last) return undefined
    this.last = value
    this.isUsed = true
    this.hooks.seen(value >>> 0)
    return value >>> 0
  }

  /**
   * Returns the value that a write of `value` to the doorbell register stands for. The write may arrive after a later
   * value was found here, and would move the queue back. If the host uses the shadow doorbell, the write therefore only
   * means that there is something to find. The value found counts as seen, since the same value is new a lap later.
   */
  rung(value: number): number {
    if (!this.hooks.isThere()) return value
    const found = loadWord(this.pages.doorbells, this.index)
    if (!this.isUsed && found === this.last) return value
    this.last = found
    this.isUsed = true
    return found >>> 0
  }

  /** Sets EventIdx: the host must ring when it goes past `value`. Returns false if that was already set. */
  askFrom(value: number): boolean {
    if (this.event === value || !this.hooks.isThere()) return false
    this.event = value
    storeWord(this.pages.events, this.index, value)
    return true
  }

  report(value: number, mistake: string): void {
    this.hooks.mistaken(value, mistake)
  }
}
