import type { DeviceMemory } from '@gpunvme/nvme-spec/transport'
import { checkOptions, timeout } from '../arguments.js'
import type { GpuAccess, GpuMemorySource } from '../vram/index.js'
import { sessionOf, type Cuda } from './cuda.js'
import { CudaTimeoutError } from './errors.js'
import { GpuMemory, PinnedMemory } from './memory.js'
import { isSettled, type CudaSession } from './session.js'
import { CudaStream } from './stream.js'

/** Size of the pinned memory for copies. It is allocated in advance, since allocating can wait for kernels. */
const STAGING_BYTES = 65_536

/** Time limit for a copy of `STAGING_BYTES`: thousands of times what it takes on a working GPU. */
const TIMEOUT_NS = 2e9

/**
 * GPU memory of CUDA for `withVram`, and access to its bytes for probes. Fills and copies have finished when the methods
 * return. They use a stream of their own that waits for no kernel, so a lingering kernel does not delay them. `close` it
 * after the allocator that uses it.
 */
export class CudaMemorySource implements GpuMemorySource, GpuAccess {
  readonly #session: CudaSession
  readonly #stream: CudaStream
  readonly #staging: PinnedMemory
  readonly #blocks = new Set<GpuMemory>()
  readonly #timeoutNs: number

  /**
   * @param options `timeoutNs`: limit for each fill, and for each 64 KiB of a copy. Default: 2 s.
   * @throws CudaCallError if memory is exhausted; TypeError, RangeError for invalid arguments.
   */
  constructor(cuda: Cuda, options: { readonly timeoutNs?: number } = {}) {
    checkOptions('CudaMemorySource', options, { timeoutNs: timeout })
    this.#session = sessionOf(cuda)
    this.#timeoutNs = options.timeoutNs ?? TIMEOUT_NS
    this.#stream = new CudaStream(this.#session)
    try {
      this.#staging = new PinnedMemory(this.#session, STAGING_BYTES)
    } catch (error) {
      this.#stream.close()
      throw error
    }
  }

  /** Allocates memory on the GPU. @throws CudaCallError if memory is exhausted. */
  alloc(lengthBytes: number): DeviceMemory {
    const memory = new GpuMemory(this.#session, lengthBytes)
    this.#blocks.add(memory)
    const { gpuPointer } = memory
    return {
      lengthBytes,
      gpuPointer,
      free: () => {
        memory.free()
        this.#blocks.delete(memory)
      },
    }
  }

  /** Sets bytes. @throws RangeError for memory that was not allocated here; CudaTimeoutError, CudaCallError */
  fill(gpuPointer: bigint, lengthBytes: number, byte: number): void {
    const { memory, offsetBytes } = this.#find(gpuPointer, lengthBytes)
    const { addon } = this.#session
    this.#use(memory, `Filling ${lengthBytes} bytes of GPU memory`, (stream, handle) =>
      addon.fill(stream, handle, offsetBytes, lengthBytes, byte),
    )
  }

  /** Copies `into.length` bytes to the host. @throws as `fill` */
  copyOut(gpuPointer: bigint, into: Uint8Array): void {
    const { memory, offsetBytes } = this.#find(gpuPointer, into.length)
    const { addon } = this.#session
    for (const { at, bytes } of parts(into.length)) {
      this.#use(memory, `Reading ${into.length} bytes of GPU memory`, (stream, handle) =>
        addon.copyOut(stream, handle, offsetBytes + at, bytes, this.#staging.address),
      )
      into.set(new Uint8Array(this.#staging.buffer, 0, bytes), at)
    }
  }

  /** Copies bytes to the GPU. @throws as `fill` */
  write(gpuPointer: bigint, from: Uint8Array): void {
    const { memory, offsetBytes } = this.#find(gpuPointer, from.length)
    const { addon } = this.#session
    for (const { at, bytes } of parts(from.length)) {
      this.#use(memory, `Writing ${from.length} bytes of GPU memory`, (stream, handle) => {
        new Uint8Array(this.#staging.buffer).set(from.subarray(at, at + bytes))
        addon.copyIn(stream, handle, offsetBytes + at, bytes, this.#staging.address)
      })
    }
  }

  /** Returns a copy of bytes. @throws as `fill` */
  read(gpuPointer: bigint, lengthBytes: number): Uint8Array {
    const bytes = new Uint8Array(lengthBytes)
    this.copyOut(gpuPointer, bytes)
    return bytes
  }

  /** Frees the stream and the pinned memory, not what `alloc` returned. @throws TypeError if already closed. */
  close(): void {
    this.#stream.close()
    this.#staging.free()
  }

  #use(memory: GpuMemory, attempt: string, start: (stream: number, handle: number) => void): void {
    const stream = this.#stream.handle
    // Work that timed out earlier may still use the staging memory.
    if (!isSettled(this.#session, stream, this.#timeoutNs)) throw new CudaTimeoutError(attempt, this.#timeoutNs)
    memory.useNow(stream, attempt, this.#timeoutNs, (handle) => start(stream, handle))
  }

  #find(gpuPointer: bigint, lengthBytes: number): { memory: GpuMemory; offsetBytes: number } {
    for (const memory of this.#blocks) {
      const offsetBytes = Number(gpuPointer - memory.gpuPointer)
      if (offsetBytes >= 0 && offsetBytes + lengthBytes <= memory.lengthBytes) return { memory, offsetBytes }
    }
    const part = `${lengthBytes} bytes at 0x${gpuPointer.toString(16)}`
    throw new RangeError(`gpuPointer: expected memory allocated by this source, got ${part}`)
  }
}

function* parts(lengthBytes: number): Generator<{ at: number; bytes: number }> {
  for (let at = 0; at < lengthBytes; at += STAGING_BYTES) yield { at, bytes: Math.min(STAGING_BYTES, lengthBytes - at) }
}
