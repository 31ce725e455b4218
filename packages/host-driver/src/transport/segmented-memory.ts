import type { DmaMemory, DmaSegment } from '@gpunvme/nvme-spec/transport'

/** Memory by its segments, on a machine with coherent DMA. It has no addresses after `free`. */
export class SegmentedMemory implements DmaMemory {
  readonly segments: readonly DmaSegment[]
  readonly lengthBytes: number
  readonly view?: DataView
  private readonly release: () => void
  private isFree = false
  /** Segment of the last lookup: PRP entries are looked up in order. */
  private current: DmaSegment

  /** @param view absent if the CPU cannot access the memory. @param release called once, by `free`. */
  constructor(segments: readonly DmaSegment[], lengthBytes: number, view: DataView | undefined, release: () => void) {
    this.segments = segments
    this.lengthBytes = lengthBytes
    if (view !== undefined) this.view = view
    this.release = release
    this.current = segments[0]!
  }

  iovaAt(offsetBytes: number): number {
    this.checkHeld()
    if (!isIn(this.current, offsetBytes)) this.current = this.find(offsetBytes)
    return this.current.iova + offsetBytes - this.current.offsetBytes
  }

  forDevice(): void {
    this.checkHeld()
  }

  forHost(): void {
    this.checkHeld()
  }

  free(): void {
    this.checkHeld()
    this.isFree = true
    this.release()
  }

  private checkHeld(): void {
    if (this.isFree) throw new TypeError('this memory was freed')
  }

  private find(offsetBytes: number): DmaSegment {
    if (!Number.isInteger(offsetBytes) || offsetBytes < 0 || offsetBytes >= this.lengthBytes)
      throw new RangeError(`offsetBytes: expected an integer from 0 to ${this.lengthBytes - 1}, got ${offsetBytes}`)
    let low = 0
    let high = this.segments.length - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (this.segments[middle]!.offsetBytes <= offsetBytes) low = middle
      else high = middle - 1
    }
    return this.segments[low]!
  }
}

function isIn({ offsetBytes, lengthBytes }: DmaSegment, at: number): boolean {
  return at >= offsetBytes && at - offsetBytes < lengthBytes && Number.isInteger(at)
}
