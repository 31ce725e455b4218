import type { CopyEngine, DmaMemory } from '@gpunvme/nvme-spec/transport'
import { show } from '../options.js'
import type { SimulationClock } from '../time/clock.js'
import type { GpuLink } from './gpu-link.js'
import { checkPart, SimulatedGpuMemory } from './gpu-memory.js'

/** Copies cross the link in pieces of this size, so that writes of drives get their turn in between. */
const PIECE_BYTES = 256 * 1024

interface Copy {
  readonly from: Uint8Array | undefined
  readonly to: SimulatedGpuMemory
  readonly toBytes: number
  readonly lengthBytes: number
  doneBytes: number
  error: Error | undefined
}

/** Parts of a copy engine. */
export interface CopyEngineParts {
  readonly clock: SimulationClock
  readonly link: GpuLink
  /** Allocates GPU memory. @throws RangeError if none is left. */
  readonly alloc: (lengthBytes: number) => SimulatedGpuMemory
  /** If false, copies take their time and move nothing. */
  readonly movesData: boolean
}

/** One DMA engine of a simulated GPU: copies from host memory in the order of the calls, limited by its link. */
export class SimulatedCopyEngine implements CopyEngine {
  private readonly parts: CopyEngineParts
  private readonly queue: Copy[] = []

  constructor(parts: CopyEngineParts) {
    this.parts = parts
  }

  alloc(lengthBytes: number): SimulatedGpuMemory {
    return this.parts.alloc(lengthBytes)
  }

  /**
   * Any number of copies may be in flight; they complete in the order of the calls.
   * @throws RangeError outside either memory; TypeError for memory that is not the host's, not of this GPU, or freed.
   */
  async copy(
    from: DmaMemory,
    fromBytes: number,
    to: SimulatedGpuMemory,
    toBytes: number,
    lengthBytes: number,
  ): Promise<void> {
    if (from.view === undefined) throw new TypeError('copy: expected memory with a view of the host')
    if (!(to instanceof SimulatedGpuMemory)) throw new TypeError(`copy: expected memory of this GPU, got ${show(to)}`)
    checkPart('copy from', fromBytes, lengthBytes, from.lengthBytes)
    checkPart('copy to', toBytes, lengthBytes, to.lengthBytes)
    if (lengthBytes === 0) return
    const { buffer, byteOffset } = from.view
    const bytes = this.parts.movesData ? new Uint8Array(buffer, byteOffset + fromBytes, lengthBytes) : undefined
    const copy: Copy = { from: bytes, to, toBytes, lengthBytes, doneBytes: 0, error: undefined }
    this.queue.push(copy)
    if (this.queue.length === 1) this.sendPiece()
    while (this.queue.includes(copy)) await this.parts.clock.idle(Infinity)
    if (copy.error !== undefined) throw copy.error
  }

  /** Sends the next piece of the first copy. */
  private sendPiece(): void {
    const { clock, link } = this.parts
    const copy = this.queue[0]!
    const pieceBytes = Math.min(PIECE_BYTES, copy.lengthBytes - copy.doneBytes)
    clock.schedule(link.copy(clock.now(), pieceBytes), () => {
      try {
        const { from, to, toBytes, doneBytes } = copy
        if (from !== undefined) to.copyIn(toBytes + doneBytes, from.subarray(doneBytes, doneBytes + pieceBytes))
        copy.doneBytes += pieceBytes
      } catch (error) {
        // The memory was freed meanwhile.
        copy.error = error as Error
      }
      if (copy.error !== undefined || copy.doneBytes === copy.lengthBytes) this.queue.shift()
      if (this.queue.length > 0) this.sendPiece()
    })
  }
}
