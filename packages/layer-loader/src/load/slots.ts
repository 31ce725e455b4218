import type { DmaAllocator, DmaMemory } from '@gpunvme/nvme-spec/transport'

/** What a released slot is filled with where that was asked for. */
const POISON = 0xa5

/** Memory for one extent at a time. */
export interface Slot {
  readonly index: number
  readonly memory: DmaMemory
  /** All of it; absent for memory that the CPU cannot reach. */
  readonly bytes: Uint8Array | undefined
  /** How many extents it has held, this one included: what was read of it before holds no longer. */
  generation: number
}

/** The memory of a loader: as many slots as it may use, of one size, taken and given back. */
export class Slots {
  readonly slotBytes: number
  readonly count: number
  private readonly poison: boolean
  private readonly free: Slot[] = []
  private closed = false

  /** @throws what `alloc` throws; then nothing stays allocated. */
  constructor(dma: DmaAllocator, count: number, slotBytes: number, where: 'host' | 'gpu', poison: boolean) {
    this.slotBytes = slotBytes
    this.count = count
    this.poison = poison
    try {
      for (let index = 0; index < count; index++) {
        const memory = dma.alloc(slotBytes, { where })
        const { view } = memory
        const bytes = view && new Uint8Array(view.buffer, view.byteOffset, slotBytes)
        this.free.unshift({ index, memory, bytes, generation: 0 })
      }
    } catch (error) {
      this.close()
      throw error
    }
  }

  get freeCount(): number {
    return this.free.length
  }

  /** A slot that nobody uses; undefined when there is none. */
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

  /** Frees every slot: those that are taken as soon as they are given back. */
  close(): void {
    this.closed = true
    for (const { memory } of this.free.splice(0)) memory.free()
  }

  private fill({ memory, bytes }: Slot): void {
    if (bytes === undefined) memory.fill?.(POISON, 0, this.slotBytes)
    else bytes.fill(POISON)
  }
}
