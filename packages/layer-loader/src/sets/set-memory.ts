import { LentMemory } from '@gpunvme/host-driver'
import type { DmaAllocator, DmaMemory, DmaRequest } from '@gpunvme/nvme-spec/transport'

/**
 * Allocates memory for the transfers of a set, from its first member. Other members write to it too, without the first
 * one's knowledge. Once a member is lost, it may continue to write: memory allocated until then is never returned to
 * the system.
 */
export class SetMemory implements DmaAllocator {
  private readonly dma: DmaAllocator
  private lent: LentMemory

  constructor(dma: DmaAllocator) {
    this.dma = dma
    this.lent = new LentMemory(dma)
  }

  get addressSpace(): object | undefined {
    return this.dma.addressSpace
  }

  alloc(lengthBytes: number, request?: DmaRequest): DmaMemory {
    return this.lent.alloc(lengthBytes, request)
  }

  /** Returns whether the controller of `other` can reach memory allocated here. */
  isReachedBy(other: DmaAllocator): boolean {
    const { dma } = this
    return dma === other || (dma.addressSpace !== undefined && dma.addressSpace === other.addressSpace)
  }

  /** Called after the loss of a member. Later allocations are unknown to it. */
  quarantine(): void {
    this.lent.quarantine()
    this.lent = new LentMemory(this.dma)
  }
}
