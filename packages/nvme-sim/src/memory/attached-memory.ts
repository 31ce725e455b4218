import type { DmaAllocator, DmaMemory, DmaRequest } from '@gpunvme/nvme-spec/transport'

/** A host's memory, as allocated by the driver of one drive until its transport is closed. */
export class AttachedMemory implements DmaAllocator {
  /** All drives of a host can access all of its memory. */
  readonly addressSpace: DmaAllocator
  private closed = false

  constructor(memory: DmaAllocator) {
    this.addressSpace = memory
  }

  alloc(lengthBytes: number, request?: DmaRequest): DmaMemory {
    if (this.closed) throw new TypeError('alloc: the transport was closed')
    return this.addressSpace.alloc(lengthBytes, request)
  }

  /** Stops allocation; allocated memory stays until it is freed. */
  close(): void {
    this.closed = true
  }

  get isClosed(): boolean {
    return this.closed
  }
}
