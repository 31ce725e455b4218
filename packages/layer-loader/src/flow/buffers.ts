import type { AbortSignalLike, DmaAllocator, DmaMemory } from '@gpunvme/nvme-spec/transport'
import { Transfers, Turns } from './transfers.js'

/** Memory that the controller can reach and the host can see. */
export class HostBuffer implements Disposable {
  readonly memory: DmaMemory
  /** The whole buffer. */
  readonly bytes: Uint8Array

  /** @throws TypeError if the allocator returns memory that the CPU cannot reach; errors of `alloc`. */
  constructor(dma: DmaAllocator, lengthBytes: number) {
    this.memory = dma.alloc(lengthBytes, { where: 'host' })
    const { view } = this.memory
    if (view === undefined) {
      this.memory.free()
      throw new TypeError('host memory: expected a view of it, got none')
    }
    this.bytes = new Uint8Array(view.buffer, view.byteOffset, lengthBytes)
  }

  [Symbol.dispose](): void {
    this.memory.free()
  }
}

/**
 * Transfers through a fixed number of buffers: while one is in flight, the next is prepared. The number of buffers bounds
 * memory; their total length bounds the bytes in flight. Disposal frees the memory once nothing is in flight.
 */
export class BufferedTransfers extends Transfers<HostBuffer> {
  /** @throws errors of `HostBuffer`; then nothing stays allocated. */
  constructor(dma: DmaAllocator, count: number, bufferBytes: number, signal?: AbortSignalLike) {
    const buffers: HostBuffer[] = []
    try {
      while (buffers.length < count) buffers.push(new HostBuffer(dma, bufferBytes))
    } catch (error) {
      for (const buffer of buffers) buffer[Symbol.dispose]()
      throw error
    }
    super(new Turns(buffers), signal)
  }

  /** Waits for all transfers in flight, and frees the memory. */
  override async [Symbol.asyncDispose](): Promise<void> {
    await super[Symbol.asyncDispose]()
    for (const buffer of this.turns.all) buffer[Symbol.dispose]()
  }
}
