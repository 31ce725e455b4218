import type { DmaAllocator } from '@gpunvme/nvme-spec/transport'
import { allocateHostBuffer, type HostBuffer } from '../buffer-pool.js'

/** What a released slot is filled with where that was asked for. */
const POISON = 0xa5

/** The memory of a stream: as many buffers as it may use, of one size, taken and given back. */
export class Slots {
  private readonly poison: boolean
  private readonly free: HostBuffer[] = []
  private closed = false

  /** @throws what `alloc` throws; then nothing stays allocated. */
  constructor(dma: DmaAllocator, count: number, slotBytes: number, poison: boolean) {
    this.poison = poison
    try {
      for (let index = 0; index < count; index++) this.free.push(allocateHostBuffer(dma, slotBytes))
    } catch (error) {
      this.close()
      throw error
    }
  }

  /** A slot that nobody uses; undefined when there is none. */
  take(): HostBuffer | undefined {
    return this.free.pop()
  }

  give(slot: HostBuffer): void {
    if (this.closed) slot.memory.free()
    else {
      if (this.poison) slot.bytes.fill(POISON)
      this.free.push(slot)
    }
  }

  /** Frees every slot: those that are taken as soon as they are given back. */
  close(): void {
    this.closed = true
    for (const { memory } of this.free.splice(0)) memory.free()
  }
}
