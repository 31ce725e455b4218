import type { DmaAllocator, DmaMemory, DmaRequest, DmaSegment } from '@gpunvme/nvme-spec/transport'
import { checkRequest } from '../memory/host-memory.js'
import { DMA_PAGE_BYTES, type RealTimeLayout } from './layout.js'
import { ALLOCATED, FREED } from './shared-memory.js'

/** Bytes that are cleared at once. */
const PIECE_BYTES = 256 * 1024 * 1024

/** A range of whole pages, by offset from the memory's first byte. */
interface Range {
  offsetBytes: number
  lengthBytes: number
}

/**
 * Allocates the DMA part of the shared memory, in the thread that started the simulator. A page is left unused after
 * each allocation, so that overruns are detected.
 */
export class RegionAllocator implements DmaAllocator {
  private readonly buffer: ArrayBufferLike
  private readonly layout: RealTimeLayout
  /** Accessibility by page; undefined if it is not checked. */
  private readonly pages: Uint8Array | undefined
  /** In order of offset; no two are adjacent. */
  private free: Range[]
  private closed = false

  constructor(buffer: ArrayBufferLike, layout: RealTimeLayout, pages: SharedArrayBuffer | undefined) {
    this.buffer = buffer
    this.layout = layout
    this.pages = pages && new Uint8Array(pages)
    this.free = [{ offsetBytes: layout.dmaOffsetBytes, lengthBytes: layout.dmaBytes }]
  }

  alloc(lengthBytes: number, request: DmaRequest = {}): DmaMemory {
    checkRequest(lengthBytes, request)
    const { alignBytes = DMA_PAGE_BYTES } = request
    if (this.closed) throw new TypeError('alloc: the transport was closed')
    const { buffer, layout } = this
    const used = Math.ceil(lengthBytes / DMA_PAGE_BYTES) * DMA_PAGE_BYTES
    const offsetBytes = this.take(used, Math.max(alignBytes, DMA_PAGE_BYTES))
    if (offsetBytes === undefined) {
      const total = this.free.reduce((sum, range) => sum + range.lengthBytes, 0)
      throw new RangeError(
        `shared memory: no ${lengthBytes} contiguous bytes are left; ${total} of ${layout.dmaBytes} bytes are free`,
      )
    }
    // In pieces: a Uint8Array of Node 20 has at most 4 GiB.
    for (let at = 0; at < lengthBytes; at += PIECE_BYTES) {
      new Uint8Array(buffer, offsetBytes + at, Math.min(PIECE_BYTES, lengthBytes - at)).fill(0)
    }
    this.mark(offsetBytes, used, ALLOCATED)
    const view = new DataView(buffer, offsetBytes, lengthBytes)
    return new RegionMemory(view, layout.baseIova + offsetBytes, () => {
      this.mark(offsetBytes, used, FREED)
      this.give({ offsetBytes, lengthBytes: used + DMA_PAGE_BYTES })
    })
  }

  /** Stops allocation; allocated memory stays until it is freed. */
  close(): void {
    this.closed = true
  }

  get isClosed(): boolean {
    return this.closed
  }

  /** Returns the first range that is large enough, including the page after it. */
  private take(lengthBytes: number, alignBytes: number): number | undefined {
    const { baseIova, dmaOffsetBytes, dmaBytes } = this.layout
    const endBytes = dmaOffsetBytes + dmaBytes
    for (const [index, range] of this.free.entries()) {
      const start = Math.ceil((baseIova + range.offsetBytes) / alignBytes) * alignBytes - baseIova
      const end = range.offsetBytes + range.lengthBytes
      if (start + lengthBytes > end) continue
      // The last page needs no unused page after it.
      const next = Math.min(start + lengthBytes + DMA_PAGE_BYTES, endBytes)
      if (next > end) continue
      const before = { offsetBytes: range.offsetBytes, lengthBytes: start - range.offsetBytes }
      const behind = { offsetBytes: next, lengthBytes: end - next }
      this.free.splice(index, 1, before, behind)
      this.free = this.free.filter((each) => each.lengthBytes > 0)
      return start
    }
    return undefined
  }

  private give(range: Range): void {
    const { dmaOffsetBytes, dmaBytes } = this.layout
    range.lengthBytes = Math.min(range.lengthBytes, dmaOffsetBytes + dmaBytes - range.offsetBytes)
    const ranges = [...this.free, range].sort((a, b) => a.offsetBytes - b.offsetBytes)
    this.free = []
    for (const each of ranges) {
      const last = this.free.at(-1)
      if (last && last.offsetBytes + last.lengthBytes === each.offsetBytes) last.lengthBytes += each.lengthBytes
      else this.free.push(each)
    }
  }

  /** The host rings a doorbell afterwards, so the simulator sees this before it accesses the memory. */
  private mark(offsetBytes: number, lengthBytes: number, value: typeof ALLOCATED | typeof FREED): void {
    const first = (offsetBytes - this.layout.dmaOffsetBytes) / DMA_PAGE_BYTES
    this.pages?.fill(value, first, first + lengthBytes / DMA_PAGE_BYTES)
  }
}

/** Freed memory has no addresses: `iovaAt` throws. Its view shows whatever is there now. */
class RegionMemory implements DmaMemory {
  readonly view: DataView
  readonly lengthBytes: number
  readonly segments: readonly DmaSegment[]
  private readonly iova: number
  private release: (() => void) | undefined

  constructor(view: DataView, iova: number, release: () => void) {
    this.view = view
    this.lengthBytes = view.byteLength
    this.segments = [{ offsetBytes: 0, iova, lengthBytes: view.byteLength }]
    this.iova = iova
    this.release = release
  }

  iovaAt(offsetBytes: number): number {
    if (this.release === undefined) throw new TypeError(`iovaAt(${offsetBytes}): this memory was freed`)
    if (!(offsetBytes >= 0 && offsetBytes < this.lengthBytes)) {
      throw new RangeError(`iovaAt(${offsetBytes}): the memory has ${this.lengthBytes} bytes`)
    }
    return this.iova + offsetBytes
  }

  // Both threads see the same bytes. The doorbell orders this host's stores before the controller's loads. In the other
  // direction, a host that loads the Phase Tag by Atomics.load is ordered too. Loading it from a DataView has no
  // guarantee by the language, and relies on x86 keeping loads in order (judged; on Arm it may not).
  forDevice(): void {}
  forHost(): void {}

  free(): void {
    if (this.release === undefined) throw new TypeError('free(): this memory was already freed')
    this.release()
    this.release = undefined
  }
}
