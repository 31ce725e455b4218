import type { DmaAllocator, DmaMemory } from '@gpunvme/nvme-spec/transport'

/** Memory that the controller can reach and the host can see. */
export interface HostBuffer {
  readonly memory: DmaMemory
  /** The whole buffer. */
  readonly bytes: Uint8Array
}

/** @throws TypeError if the allocator returns memory that the CPU cannot reach; errors of `alloc`. */
export function allocateHostBuffer(dma: DmaAllocator, lengthBytes: number): HostBuffer {
  const memory = dma.alloc(lengthBytes, { where: 'host' })
  const { view } = memory
  if (view === undefined) {
    memory.free()
    throw new TypeError('host memory: expected a view of it, got none')
  }
  return { memory, bytes: new Uint8Array(view.buffer, view.byteOffset, lengthBytes) }
}

/**
 * Runs transfers over a fixed number of buffers: while one is in flight, the next is prepared. The number of buffers
 * bounds memory; their total length bounds the bytes in flight. The first failure ends all transfers.
 */
export class BufferPool {
  private readonly buffers: HostBuffer[] = []
  private readonly free: HostBuffer[] = []
  private readonly running = new Set<Promise<void>>()
  private failure: { readonly error: unknown } | undefined

  /** @throws errors of `alloc`; then nothing stays allocated. */
  constructor(dma: DmaAllocator, count: number, bufferBytes: number) {
    try {
      for (let index = 0; index < count; index++) this.buffers.push(allocateHostBuffer(dma, bufferBytes))
    } catch (error) {
      for (const { memory } of this.buffers) memory.free()
      throw error
    }
    for (const each of this.buffers) this.free.push(each)
  }

  /** Waits for a free buffer and takes it. @throws the error of an earlier transfer. */
  async take(): Promise<HostBuffer> {
    for (;;) {
      if (this.failure !== undefined) throw this.failure.error
      const buffer = this.free.pop()
      if (buffer !== undefined) return buffer
      await Promise.race(this.running)
    }
  }

  /** Starts `use` on a taken buffer without waiting; afterwards the buffer is free again. */
  run(buffer: HostBuffer, use: (buffer: HostBuffer) => Promise<void>): void {
    const running = use(buffer)
      .catch((error: unknown) => {
        this.failure ??= { error }
      })
      .then(() => {
        this.running.delete(running)
        this.free.push(buffer)
      })
    this.running.add(running)
  }

  /** Waits for all running transfers. @throws the first transfer error. */
  async drain(): Promise<void> {
    await Promise.all(this.running)
    if (this.failure !== undefined) throw this.failure.error
  }

  /** Waits for all running transfers, whether they succeed or fail, and frees the memory. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.running)
    for (const { memory } of this.buffers) memory.free()
  }
}
