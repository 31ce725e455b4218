import type { DmaAllocator, DmaMemory, DmaRequest } from '@gpunvme/nvme-spec/transport'

/** A host's memory as the driver of one of its drives is given it, until the drive's transport is closed. */
export class AttachedMemory implements DmaAllocator {
  /** All drives of a host reach all of its memory. */
  readonly addressSpace: DmaAllocator
  private isClosed = false

  constructor(memory: DmaAllocator) {
    this.addressSpace = memory
  }

  alloc(lengthBytes: number, request?: DmaRequest): DmaMemory {
    if (this.isClosed) throw new TypeError('alloc: the transport was closed')
    return this.addressSpace.alloc(lengthBytes, request)
  }

  /** Nothing is given out any more; what was given out stays until it is freed. */
  close(): void {
    this.isClosed = true
  }
}
