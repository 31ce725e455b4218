import type { DmaAllocator, DmaMemory } from '@gpunvme/nvme-spec/transport'

/** Memory that the controller can reach and the host can see. */
export interface HostBuffer {
  readonly memory: DmaMemory
  /** All of it. */
  readonly bytes: Uint8Array
}

/** @throws TypeError when the allocator gives memory that the CPU cannot reach; what `alloc` throws. */
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
 * Runs transfers over a fixed number of buffers. While one is in flight the next is prepared; the number of buffers
 * is what bounds memory, and their total length what is in flight. The first failure ends it all.
 */
export class BufferPool {
  private readonly buffers: HostBuffer[] = []
  private readonly free: HostBuffer[] = []
  private readonly running = new Set<Promise<void>>()
  private failure: { readonly error: unknown } | undefined

  /** @throws what `alloc` throws; then nothing stays allocated. */
  constructor(dma: DmaAllocator, count: number, bufferBytes: number) {
    try {
      for (let index = 0; index < count; index++) this.buffers.push(allocateHostBuffer(dma, bufferBytes))
    } catch (error) {
      for (const { memory } of this.buffers) memory.free()
      throw error
    }
    for (const each of this.buffers) this.free.push(each)
  }

  /** A buffer that nothing uses. Waits for one. @throws what a transfer threw. */
  async take(): Promise<HostBuffer> {
    for (;;) {
      if (this.failure !== undefined) throw this.failure.error
      const buffer = this.free.pop()
      if (buffer !== undefined) return buffer
      await Promise.race(this.running)
    }
  }

  /** Uses a buffer that was taken, without waiting; afterwards it is free again. */
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

  /** Waits for everything that runs. @throws what the first failure threw. */
  async drain(): Promise<void> {
    await Promise.all(this.running)
    if (this.failure !== undefined) throw this.failure.error
  }

  /** Waits for everything that runs, however it ends, and frees the memory. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.running)
    for (const { memory } of this.buffers) memory.free()
  }
}
