import type { DmaAllocator, DmaMemory } from '@gpunvme/nvme-spec/transport'

const CANARY = 0xc5
/** Canary bytes on either side of the memory: at least a page, so that page offsets stay as allocated. */
const GUARD_BYTES = 4096

/** Requirements on guarded memory, in addition to its length. */
export interface GuardedMemoryRequest {
  /** Alignment of the first byte's device address; 4096 when not given. */
  readonly alignBytes?: number
  /** Initial value of every byte; a5h when not given, so that bytes that were never written are recognizable. */
  readonly fill?: number
  readonly contiguous?: boolean
}

/** DMA memory between two runs of canary bytes that the controller must not change. */
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
    if (view === undefined) throw new TypeError('the raw host needs memory that it can read and write')
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

  /** Returns the offset of the first canary byte that changed, relative to the memory; undefined when none did. */
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
  // Node's comparison first: arrays rarely differ, and campaigns compare megabytes.
  return Buffer.compare(one, other) === 0 ? -1 : one.findIndex((byte, at) => byte !== other[at])
}
