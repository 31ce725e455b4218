import { LentMemory } from '@gpunvme/host-driver'
import type { DmaAllocator, DmaMemory, DmaRequest } from '@gpunvme/nvme-spec/transport'

/**
 * Memory for the transfers of a set: that of its first member. Other members write to it as well, and the first one's
 * controller does not know what becomes of theirs. So once a member is lost - it may go on writing, if nothing could
 * stop it - what was allocated until then is not given back to the system any more.
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

  /** Whether the controller that `other` is of reaches what is allocated here. */
  isReachedBy(other: DmaAllocator): boolean {
    const { dma } = this
    return dma === other || (dma.addressSpace !== undefined && dma.addressSpace === other.addressSpace)
  }

  /** A member was lost. What is allocated from now on it was never told of. */
  withhold(): void {
    this.lent.withhold()
    this.lent = new LentMemory(this.dma)
  }
}
