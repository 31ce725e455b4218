import type { DmaAllocator, DmaMemory, DmaRequest, DmaSegment } from '@gpunvme/nvme-spec/transport'
import { fillMemory } from '../memory/reachable.js'
import { AddressSpace } from './address-space.js'
import { SegmentedMemory } from './segmented-memory.js'

/** Memory that the device can access, in one piece for the host: an arena hands out its parts. */
export interface DmaChunk {
  readonly buffer: ArrayBuffer
  readonly lengthBytes: number
  /** In offset order, without gaps, adjacent runs merged. */
  readonly segments: readonly DmaSegment[]
  /** Ends the device's access and frees the memory. */
  release(): void
}

/** Source of an arena's memory. */
export interface DmaSource {
  /** Unit of the length of chunks. */
  readonly granuleBytes: number
  /**
   * Returns a zeroed chunk of a multiple of `granuleBytes`. If addresses can be chosen, the first is a multiple of
   * `alignBytes`.
   * @throws if no memory is left.
   */
  chunk(lengthBytes: number, alignBytes: number): DmaChunk
  /** Same as `DmaAllocator.addressSpace`. */
  readonly addressSpace?: object
}

interface Arena {
  readonly chunk: DmaChunk
  readonly space: AddressSpace
}

/**
 * A DMA allocator over chunks: small requests share one, large ones have their own. One empty chunk of the smallest
 * size is kept, so that a loop that allocates and frees does not map and unmap each time.
 */
export class DmaArena implements DmaAllocator {
  private readonly source: DmaSource
  private arenas: Arena[] = []
  private isClosed = false

  constructor(source: DmaSource) {
    this.source = source
  }

  get addressSpace(): object | undefined {
    return this.source.addressSpace
  }

  alloc(lengthBytes: number, { alignBytes = 4096, contiguous = false, where = 'host' }: DmaRequest = {}): DmaMemory {
    if (!Number.isSafeInteger(lengthBytes) || lengthBytes <= 0)
      throw new RangeError(`lengthBytes: expected a positive integer, got ${lengthBytes}`)
    if (!Number.isSafeInteger(alignBytes) || alignBytes <= 0 || !Number.isInteger(Math.log2(alignBytes)))
      throw new RangeError(`alignBytes: expected a power of two, got ${alignBytes}`)
    if (where !== 'host')
      throw new TypeError(`where: expected 'host', got '${where}': this transport has no GPU memory`)
    if (this.isClosed) throw new TypeError('this transport is closed')
    const fit = { lengthBytes, alignBytes, contiguous }
    for (const arena of this.arenas) {
      const memory = this.part(arena, fit)
      if (memory === undefined) continue
      fillMemory(memory, 0) // may hold old data
      return memory
    }
    return this.fresh(fit)
  }

  /**
   * Frees all memory, including allocations that were not freed; none of it may be accessed any more.
   * @throws the first error, after all was tried.
   */
  close(): void {
    this.isClosed = true
    const errors: unknown[] = []
    for (const { chunk } of this.arenas.splice(0)) {
      try {
        chunk.release()
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw errors[0]
  }

  /**
   * Allocates and frees nothing any more, for a device that may still write and cannot be stopped. Its memory lasts as
   * long as the process.
   */
  abandon(): void {
    this.isClosed = true
    this.arenas = []
  }

  private fresh(fit: Fit): DmaMemory {
    const { granuleBytes } = this.source
    const lengthBytes = Math.ceil(fit.lengthBytes / granuleBytes) * granuleBytes
    const chunk = this.source.chunk(lengthBytes, fit.alignBytes)
    const arena = { chunk, space: new AddressSpace([{ start: 0, lengthBytes: chunk.lengthBytes }]) }
    const memory = this.part(arena, fit)
    if (memory === undefined) {
      const longest = chunk.segments.reduce((max, segment) => Math.max(max, segment.lengthBytes), 0)
      chunk.release()
      throw new RangeError(
        `Cannot allocate ${fit.lengthBytes} bytes, aligned to ${fit.alignBytes}${fit.contiguous ? ', in one segment' : ''}: ` +
          `the longest run is ${longest} bytes of ${chunk.lengthBytes}`,
      )
    }
    this.arenas.push(arena)
    return memory
  }

  /** Returns a part of a chunk that fits, by the device's addresses; undefined if there is none. */
  private part(arena: Arena, { lengthBytes, alignBytes, contiguous }: Fit): SegmentedMemory | undefined {
    const { chunk, space } = arena
    const offset = space.take(lengthBytes, (from, until) => {
      for (const segment of chunk.segments) {
        const segmentEnd = segment.offsetBytes + segment.lengthBytes
        const start = Math.max(from, segment.offsetBytes)
        const iova = segment.iova + start - segment.offsetBytes
        const at = start + Math.ceil(iova / alignBytes) * alignBytes - iova
        if (at < segmentEnd && at + lengthBytes <= (contiguous ? Math.min(segmentEnd, until) : until)) return at
      }
      return undefined
    })
    if (offset === undefined) return undefined
    const view = new DataView(chunk.buffer, offset, lengthBytes)
    return new SegmentedMemory(sliced(chunk.segments, offset, lengthBytes), lengthBytes, view, () => {
      space.give(offset)
      if (space.isEmpty) this.emptied(arena)
    })
  }

  private emptied(arena: Arena): void {
    const { granuleBytes } = this.source
    const isSpare = ({ chunk, space }: Arena) => space.isEmpty && chunk.lengthBytes === granuleBytes
    // After close() it is already gone.
    if (!this.arenas.includes(arena)) return
    if (isSpare(arena) && this.arenas.filter(isSpare).length === 1) return
    this.arenas = this.arenas.filter((one) => one !== arena)
    arena.chunk.release()
  }
}

interface Fit {
  readonly lengthBytes: number
  readonly alignBytes: number
  readonly contiguous: boolean
}

/** Returns the segments of a part of a chunk, with offsets from its start. */
function sliced(segments: readonly DmaSegment[], offset: number, lengthBytes: number): DmaSegment[] {
  return segments.flatMap((segment) => {
    const start = Math.max(offset, segment.offsetBytes)
    const end = Math.min(offset + lengthBytes, segment.offsetBytes + segment.lengthBytes)
    if (end <= start) return []
    return [{ offsetBytes: start - offset, iova: segment.iova + start - segment.offsetBytes, lengthBytes: end - start }]
  })
}
