import type { DmaAllocator, DmaMemory, DmaRequest, DmaSegment } from '@gpunvme/nvme-spec/transport'

/** Location of a device address in memory that the host can read. */
export interface Place {
  readonly view: DataView
  readonly offsetBytes: number
}

/** Allocates memory and finds it by device address until it is freed. */
export class TracedMemory implements DmaAllocator {
  private readonly dma: DmaAllocator
  private readonly lent = new Set<DmaMemory>()

  constructor(dma: DmaAllocator) {
    this.dma = dma
  }

  get addressSpace(): object | undefined {
    return this.dma.addressSpace
  }

  alloc(lengthBytes: number, request?: DmaRequest): DmaMemory {
    const memory = new RememberedMemory(this.dma.alloc(lengthBytes, request), () => this.lent.delete(memory))
    this.lent.add(memory)
    return memory
  }

  /** Returns the location of `lengthBytes` bytes from `iova`; undefined if the host cannot read all of them. */
  at(iova: number, lengthBytes: number): Place | undefined {
    for (const { view, segments } of this.lent) {
      if (view === undefined) continue
      const found = segments.find((run) => iova >= run.iova && iova + lengthBytes <= run.iova + run.lengthBytes)
      if (found) return { view, offsetBytes: found.offsetBytes + iova - found.iova }
    }
    return undefined
  }
}

class RememberedMemory implements DmaMemory {
  readonly lengthBytes: number
  readonly view?: DataView
  readonly gpuPointer?: bigint
  readonly fill?: NonNullable<DmaMemory['fill']>
  readonly copyOut?: NonNullable<DmaMemory['copyOut']>
  readonly segments: readonly DmaSegment[]
  private readonly memory: DmaMemory
  private readonly forget: () => void

  constructor(memory: DmaMemory, forget: () => void) {
    this.memory = memory
    this.forget = forget
    this.lengthBytes = memory.lengthBytes
    this.segments = memory.segments
    if (memory.view !== undefined) this.view = memory.view
    if (memory.gpuPointer !== undefined) this.gpuPointer = memory.gpuPointer
    if (memory.fill !== undefined) this.fill = (...part) => memory.fill!(...part)
    if (memory.copyOut !== undefined) this.copyOut = (...part) => memory.copyOut!(...part)
  }

  iovaAt(offsetBytes: number): number {
    return this.memory.iovaAt(offsetBytes)
  }

  forDevice(offsetBytes: number, lengthBytes: number): void {
    this.memory.forDevice(offsetBytes, lengthBytes)
  }

  forHost(offsetBytes: number, lengthBytes: number): void {
    this.memory.forHost(offsetBytes, lengthBytes)
  }

  free(): void {
    this.forget()
    this.memory.free()
  }
}
