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

/** Memory of a loader: equal slots that are reused, or slots of the length of their extents. */
export interface SlotSource {
  /** Returns a slot for an extent; undefined if there is none now. @throws errors of `alloc`. */
  take(lengthBytes: number): Slot | undefined
  give(slot: Slot): void
  /** Frees all slots; those in use are freed when they are returned. */
  close(): void
}

/** How slots are allocated. */
export interface SlotMemory {
  readonly dma: DmaAllocator
  readonly where: 'host' | 'gpu'
  readonly poison: boolean
}

/** A fixed number of slots of equal size. */
export class EqualSlots implements SlotSource {
  private readonly poison: boolean
  private readonly free: Slot[] = []
  private closed = false

  /** @throws LoaderError (SLOT_MEMORY), or another error of `alloc`; then nothing stays allocated. */
  constructor({ dma, where, poison }: SlotMemory, count: number, slotBytes: number) {
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

  take(): Slot | undefined {
    const slot = this.free.pop()
    if (slot !== undefined) slot.generation++
    return slot
  }

  give(slot: Slot): void {
    if (this.closed) slot.memory.free()
    else {
      if (this.poison) poison(slot.memory)
      this.free.push(slot)
    }
  }

  close(): void {
    this.closed = true
    for (const { memory } of this.free.splice(0)) memory.free()
  }
}

/** Slots of the length of their extents, allocated within a budget and freed when they are returned. */
export class FittingSlots implements SlotSource {
  private readonly source: SlotMemory
  private freeBytes: number
  private count = 0

  constructor(source: SlotMemory, memoryBytes: number) {
    this.source = source
    this.freeBytes = memoryBytes
  }

  take(lengthBytes: number): Slot | undefined {
    const bytes = pagesOf(lengthBytes)
    if (bytes > this.freeBytes) return undefined
    const { dma, where } = this.source
    const memory = dma.alloc(bytes, { where })
    this.freeBytes -= memory.lengthBytes
    return { index: this.count++, memory, generation: 1 }
  }

  give({ memory }: Slot): void {
    if (this.source.poison) poison(memory)
    this.freeBytes += memory.lengthBytes
    memory.free()
  }

  close(): void {
    this.freeBytes = 0
  }
}

function poison(memory: DmaMemory): void {
  if (memory.view === undefined) memory.fill?.(POISON, 0, memory.lengthBytes)
  else fillBytes(memory, POISON, memory.lengthBytes)
}

const PAGE_BYTES = 4096

/** Returns the length in whole pages, at least one. */
export function pagesOf(lengthBytes: number): number {
  return Math.max(1, Math.ceil(lengthBytes / PAGE_BYTES)) * PAGE_BYTES
}
