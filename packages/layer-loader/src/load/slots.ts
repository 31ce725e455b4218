import type { DmaAllocator, DmaMemory } from '@gpunvme/nvme-spec/transport'
import { fillBytes } from '../store/memory-bytes.js'
import { isExhausted, slotMemoryError } from './slot-memory-error.js'

/** Fills released slots if `poison` is set. */
const POISON = 0xa5

/** Memory for one extent at a time. */
export interface Slot {
  readonly index: number
  /** Without a view if the CPU cannot reach it. A slot may be longer than a Uint8Array: see `bytesIn`. */
  readonly memory: DmaMemory
  /** Number of extents it has held, including the current one. A change invalidates earlier pointers. */
  generation: number
}

/** The slots of a loader: a fixed number of equal size. */
export class Slots {
  readonly slotBytes: number
  readonly count: number
  private readonly poison: boolean
  private readonly free: Slot[] = []
  private closed = false

  /** @throws LoaderError (SLOT_MEMORY), or another error of `alloc`; then nothing stays allocated. */
  constructor(dma: DmaAllocator, count: number, slotBytes: number, where: 'host' | 'gpu', poison: boolean) {
    this.slotBytes = slotBytes
    this.count = count
    this.poison = poison
    try {
      for (let index = 0; index < count; index++) {
        this.free.unshift({ index, memory: dma.alloc(slotBytes, { where }), generation: 0 })
      }
    } catch (error) {
      const fitting = this.free.length
      this.close()
      throw isExhausted(error) ? slotMemoryError(count, slotBytes, fitting, error) : error
    }
  }

  get freeCount(): number {
    return this.free.length
  }

  /** Takes a free slot; returns undefined if there is none. */
  take(): Slot | undefined {
    const slot = this.free.pop()
    if (slot !== undefined) slot.generation++
    return slot
  }

  give(slot: Slot): void {
    if (this.closed) slot.memory.free()
    else {
      if (this.poison) this.fill(slot)
      this.free.push(slot)
    }
  }

  /** Frees all slots; those in use are freed when they are returned. */
  close(): void {
    this.closed = true
    for (const { memory } of this.free.splice(0)) memory.free()
  }

  private fill({ memory }: Slot): void {
    if (memory.view === undefined) memory.fill?.(POISON, 0, this.slotBytes)
    else fillBytes(memory, POISON, this.slotBytes)
  }
}
