import type { ReachableMemory } from '../memory/reachable.js'
import { DMA_PAGE_BYTES, type RealTimeLayout } from './layout.js'

/** The shared memory as the controller reaches it. */
export class SharedMemory implements ReachableMemory {
  private readonly buffer: ArrayBufferLike
  private readonly offsetBytes: number
  private readonly lengthBytes: number
  private readonly firstIova: number
  /** 1 for each page that is allocated. Plain loads do: what makes the controller look came after the host's store. */
  private readonly pages: Uint8Array | undefined

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
    return new Uint8Array(this.buffer, this.offsetBytes + iova - this.firstIova, lengthBytes)
  }

  has(iova: number, lengthBytes: number): boolean {
    const offset = iova - this.firstIova
    if (!(offset >= 0 && offset + lengthBytes <= this.lengthBytes)) return false
    const { pages } = this
    if (pages === undefined) return true
    const last = Math.floor((offset + lengthBytes - 1) / DMA_PAGE_BYTES)
    for (let page = Math.floor(offset / DMA_PAGE_BYTES); page <= last; page++) {
      if (pages[page] !== 1) return false
    }
    return true
  }
}
