import type { ReachableMemory } from '../memory/reachable.js'
import { DMA_PAGE_BYTES, type RealTimeLayout } from './layout.js'

/** States of a page, besides never allocated, which is 0. */
export const ALLOCATED = 1
export const FREED = 2

/** Number of cached views, a power of two: creating one costs a quarter of copying a page. */
const KEPT_VIEWS = 64

/** The shared memory, as accessed by the controller. */
export class SharedMemory implements ReachableMemory {
  private readonly buffer: ArrayBufferLike
  private readonly offsetBytes: number
  private readonly lengthBytes: number
  private readonly firstIova: number
  /**
   * ALLOCATED or FREED for each page that was ever allocated. Plain loads suffice: the controller is triggered after
   * the host's store.
   */
  private readonly pages: Uint8Array | undefined
  /** Cached views by page: a host uses the same memory for command after command. */
  private readonly views = new Array<Uint8Array | undefined>(KEPT_VIEWS).fill(undefined)

  constructor(
    buffer: ArrayBufferLike,
    { baseIova, dmaOffsetBytes, dmaBytes }: RealTimeLayout,
    pages: SharedArrayBuffer | undefined,
  ) {
    this.buffer = buffer
    this.offsetBytes = dmaOffsetBytes
    this.lengthBytes = dmaBytes
    this.firstIova = baseIova + dmaOffsetBytes
    this.pages = pages && new Uint8Array(pages)
  }

  bytes(iova: number, lengthBytes: number): Uint8Array | undefined {
    if (!this.has(iova, lengthBytes)) return undefined
    const at = this.offsetBytes + iova - this.firstIova
    const place = (at / DMA_PAGE_BYTES) & (KEPT_VIEWS - 1)
    const kept = this.views[place]
    if (kept !== undefined && kept.byteOffset === at && kept.length === lengthBytes) return kept
    return (this.views[place] = new Uint8Array(this.buffer, at, lengthBytes))
  }

  /** Never more than one piece: it is one buffer. */
  pieces(iova: number, lengthBytes: number): readonly Uint8Array[] | undefined {
    const bytes = this.bytes(iova, lengthBytes)
    return bytes && [bytes]
  }

  has(iova: number, lengthBytes: number): boolean {
    const offset = iova - this.firstIova
    if (!(offset >= 0 && offset + lengthBytes <= this.lengthBytes)) return false
    const { pages } = this
    if (pages === undefined) return true
    const last = Math.floor((offset + lengthBytes - 1) / DMA_PAGE_BYTES)
    for (let page = Math.floor(offset / DMA_PAGE_BYTES); page <= last; page++) {
      if (pages[page] !== ALLOCATED) return false
    }
    return true
  }

  explainUnmapped(iova: number): string {
    const pageOf = (address: number) => Math.floor((address - this.firstIova) / DMA_PAGE_BYTES)
    let end = iova
    while (this.has(end, 1)) end = this.firstIova + (pageOf(end) + 1) * DMA_PAGE_BYTES
    if (end > iova) return `no memory there after the first ${end - iova} bytes`
    return `no memory there, it was ${this.pages?.[pageOf(iova)] === FREED ? 'freed' : 'never allocated'}`
  }
}
