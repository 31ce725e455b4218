import { shadowCqHead, shadowSqTail } from '@gpunvme/nvme-spec'
import type { MemoryAccess, ReachableMemory } from '../memory/reachable.js'
import { CompletionQueue, type SubmissionQueue } from './queue.js'

/** What becomes of what is found in the buffers. */
export interface ShadowWatch {
  /** The host has written a doorbell in its memory. */
  seen(qid: number, isTail: boolean, value: number): void
  /** It was one that it must not write. */
  mistaken(qid: number, isTail: boolean, value: number, mistake: string): void
  /** The host has taken a buffer back while the controller uses it. */
  lost(iova: number): void
}

/**
 * The two pages of Doorbell Buffer Config (Base 2.1 §5.2.5): the host writes its doorbells into one, and the
 * controller writes into the other up to where it looks by itself. It looks while it works; before it rests it asks
 * to be rung from there on.
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

  /** What lies at the pages' addresses may be other memory from now on. Pages that are gone are found with the next look. */
  memoryChanged(): void {
    this.pages.doorbells = this.page(0, 'read') ?? this.pages.doorbells
    this.pages.events = this.page(1, 'write') ?? this.pages.events
  }

  /** Gives a queue its place in the buffers. */
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

/** Both pages as they lie in memory now. */
interface ShadowPages {
  doorbells: Words
  events: Words
}

/** The dwords of a page, in the pieces that it lies in: one, but for large pages. */
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

/** One doorbell in the host's memory. */
export class ShadowDoorbell {
  private readonly pages: ShadowPages
  private readonly index: number
  private readonly hooks: {
    seen(value: number): void
    mistaken(value: number, mistake: string): void
    isThere(): boolean
  }
  /** What stood here when it was last looked at: a host that rings this queue the old way leaves it alone. */
  private last: number
  private event: number | undefined
  /** The host has written here: it does not ring this queue the old way. */
  private isUsed = false

  constructor(pages: ShadowPages, index: number, hooks: ShadowDoorbell['hooks']) {
    this.pages = pages
    this.index = index
    this.hooks = hooks
    this.last = loadWord(pages.doorbells, index)
  }

  /** The value, where the host has written a new one. */
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
   * What a write of `value` to the doorbell itself says. It may arrive after a later value was found here, and would
   * take the queue back: where the host uses the shadow, the write only says that there is something to find. What is
   * found so counts as seen: a lap later the same value is news.
   */
  rung(value: number): number {
    if (!this.hooks.isThere()) return value
    const found = loadWord(this.pages.doorbells, this.index)
    if (!this.isUsed && found === this.last) return value
    this.last = found
    this.isUsed = true
    return found >>> 0
  }

  /** EventIdx: the host is to ring when it goes past `value`. False where it was told so before. */
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
