import type { DmaAllocator, DmaMemory, DmaRequest } from '@gpunvme/nvme-spec/transport'
import { allocate } from './allocate.js'

/**
 * Memory for the driver's own queues, lists and data pages. Records every allocation, so that all memory can be freed
 * whichever way bring-up ends.
 */
export class DmaPool implements DmaAllocator {
  private readonly dma: DmaAllocator
  private given: DmaMemory[] = []

  constructor(dma: DmaAllocator) {
    this.dma = dma
  }

  /** @throws DriverError (DMA_CONTRACT) also if two segments share a page of `alignBytes` bytes. */
  alloc(lengthBytes: number, request: DmaRequest = {}): DmaMemory {
    const memory = allocate(this.dma, lengthBytes, request, request.alignBytes ?? 4096)
    this.given.push(memory)
    return memory
  }

  /** Frees one allocation early. The controller must not know its address. */
  free(memory: DmaMemory): void {
    this.given = this.given.filter((each) => each !== memory)
    memory.free()
  }

  /** Frees all memory. Neither the controller nor an engine may still access it. */
  freeAll(): void {
    for (const memory of this.given.splice(0)) memory.free()
  }
}
