import type { DmaAllocator, DmaMemory } from '@gpunvme/nvme-spec/transport'

const CANARY = 0xc5
/** Minimum number of canary bytes on either side of the memory: a page, so that page offsets do not change. */
const GUARD_BYTES = 4096

/** Requirements on guarded memory, in addition to its length. */
export interface GuardedMemoryRequest {
  /** Alignment of the first byte's device address. Default: 4096. */
  readonly alignBytes?: number
  /** Initial value of every byte. Default: a5h, so that bytes that were never written are recognizable. */
  readonly fill?: number
  readonly contiguous?: boolean
}

/** DMA memory between canary bytes that the controller must not change. */
export class GuardedMemory {
  readonly lengthBytes: number
  /** The memory between the canaries. */
  readonly bytes: Uint8Array
  readonly view: DataView
  private readonly memory: DmaMemory
  private readonly all: Uint8Array
  private readonly guardBytes: number
  private readonly canaries: Uint8Array

  constructor(
    dma: DmaAllocator,
    lengthBytes: number,
    { alignBytes = 4096, fill = 0xa5, contiguous = true }: GuardedMemoryRequest = {},
  ) {
    this.lengthBytes = lengthBytes
    this.guardBytes = Math.max(alignBytes, GUARD_BYTES)
    this.canaries = new Uint8Array(this.guardBytes).fill(CANARY)
    this.memory = dma.alloc(lengthBytes + 2 * this.guardBytes, { alignBytes, contiguous })
    const { view } = this.memory
    if (view === undefined) throw new TypeError('the raw host needs memory with a view')
    this.all = new Uint8Array(view.buffer, view.byteOffset, this.memory.lengthBytes)
    this.all.fill(CANARY)
    this.bytes = this.all.subarray(this.guardBytes, this.guardBytes + lengthBytes)
    this.bytes.fill(fill)
    this.view = new DataView(this.bytes.buffer, this.bytes.byteOffset, lengthBytes)
    this.memory.forDevice(0, this.memory.lengthBytes)
  }

  /** Returns the device address of byte `offset`. */
  iova(offset = 0): number {
    return this.memory.iovaAt(this.guardBytes + offset)
  }

  /** Same as `iova`, under the name that `DmaMemory` uses. */
  iovaAt(offset: number): number {
    return this.iova(offset)
  }

  /** Makes bytes visible to the device, as `DmaMemory.forDevice`. */
  forDevice(offset: number, lengthBytes: number): void {
    this.memory.forDevice(this.guardBytes + offset, lengthBytes)
  }

  /** Makes bytes visible to the host, as `DmaMemory.forHost`. */
  forHost(offset: number, lengthBytes: number): void {
    this.memory.forHost(this.guardBytes + offset, lengthBytes)
  }

  /** Returns the offset of the first changed canary byte, relative to the memory; undefined if there is none. */
  findStrayWrite(): number | undefined {
    const { memory, guardBytes, lengthBytes, canaries } = this
    for (const start of [0, guardBytes + lengthBytes]) {
      memory.forHost(start, guardBytes)
      const at = firstDifference(this.all.subarray(start, start + guardBytes), canaries)
      if (at >= 0) return start + at - guardBytes
    }
    return undefined
  }

  /** Frees the memory. */
  free(): void {
    this.memory.free()
  }
}

/** Returns the index of the first byte that differs, or -1. Both arrays have the same length. */
export function firstDifference(one: Uint8Array, other: Uint8Array): number {
  // Buffer.compare first, since arrays rarely differ, and campaigns compare megabytes.
  return Buffer.compare(one, other) === 0 ? -1 : one.findIndex((byte, at) => byte !== other[at])
}
