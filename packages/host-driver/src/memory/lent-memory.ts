import type { DmaAllocator, DmaMemory, DmaRequest, DmaSegment } from '@gpunvme/nvme-spec/transport'

/**
 * Allocates memory for callers' transfers. `free` frees it, unless a controller could not be stopped: it may go on
 * writing there, so that nothing is returned to the system any more. Freed memory has no addresses, since they may
 * belong to other memory by then.
 */
export class LentMemory implements DmaAllocator {
  private readonly dma: DmaAllocator
  private withheld = false

  constructor(dma: DmaAllocator) {
    this.dma = dma
  }

  get addressSpace(): object | undefined {
    return this.dma.addressSpace
  }

  alloc(lengthBytes: number, request?: DmaRequest): DmaMemory {
    return new Loan(this.dma.alloc(lengthBytes, request), () => this.withheld)
  }

  /** Stops returning freed memory to the transport. */
  withhold(): void {
    this.withheld = true
  }
}

class Loan implements DmaMemory {
  readonly lengthBytes: number
  readonly view?: DataView
  readonly gpuPointer?: bigint
  readonly fill?: NonNullable<DmaMemory['fill']>
  readonly copyOut?: NonNullable<DmaMemory['copyOut']>
  readonly segments: readonly DmaSegment[]
  private readonly memory: DmaMemory
  private readonly isWithheld: () => boolean
  private isFree = false

  constructor(memory: DmaMemory, isWithheld: () => boolean) {
    this.memory = memory
    this.isWithheld = isWithheld
    this.lengthBytes = memory.lengthBytes
    this.segments = memory.segments
    if (memory.view !== undefined) this.view = memory.view
    if (memory.gpuPointer !== undefined) this.gpuPointer = memory.gpuPointer
    if (memory.fill !== undefined)
      this.fill = (byte, offsetBytes, lengthBytes) => {
        this.checkHeld()
        memory.fill!(byte, offsetBytes, lengthBytes)
      }
    if (memory.copyOut !== undefined)
      this.copyOut = (offsetBytes, into) => {
        this.checkHeld()
        memory.copyOut!(offsetBytes, into)
      }
  }

  iovaAt(offsetBytes: number): number {
    this.checkHeld()
    return this.memory.iovaAt(offsetBytes)
  }

  forDevice(offsetBytes: number, lengthBytes: number): void {
    this.checkHeld()
    this.memory.forDevice(offsetBytes, lengthBytes)
  }

  forHost(offsetBytes: number, lengthBytes: number): void {
    this.checkHeld()
    this.memory.forHost(offsetBytes, lengthBytes)
  }

  free(): void {
    this.checkHeld()
    if (!this.isWithheld()) this.memory.free()
    this.isFree = true
  }

  private checkHeld(): void {
    if (this.isFree) throw new TypeError('this memory was freed')
  }
}
