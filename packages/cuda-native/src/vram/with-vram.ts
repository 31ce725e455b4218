import { GpuNvmeError } from '@gpunvme/nvme-spec'
import type { DeviceMemory, DmaAllocator, DmaMemory, DmaRequest, DmaSegment } from '@gpunvme/nvme-spec/transport'
import { VramRefusedError, type VramMapping, type VramProvider } from './provider.js'
import { PAGE_BYTES, segmentsFault, sliceSegments } from './segments.js'
import { GPU_PAGE_BYTES } from './find-pages.js'

/** Source of GPU memory, such as `CudaMemorySource` of `/cuda`. */
export interface GpuMemorySource {
  /** Allocates GPU memory. @throws if memory is exhausted. */
  alloc(lengthBytes: number): DeviceMemory
  /** Sets bytes. Has finished when it returns, even while kernels run. */
  fill(gpuPointer: bigint, lengthBytes: number, byte: number): void
  /** Copies `into.length` bytes to the host. Has finished when it returns, even while kernels run. */
  copyOut?(gpuPointer: bigint, into: Uint8Array): void
}

/** Options of `withVram`. */
export interface VramOptions {
  /**
   * Makes data that the controller wrote visible on the GPU; required unless the GPU orders such writes (see
   * `decideOrdering`). `forHost` of GPU memory calls it, and engines call `forHost` before they report a read.
   */
  readonly flush?: () => void
}

/** An allocator of host and GPU memory. */
export interface VramAllocator extends DmaAllocator {
  /**
   * Frees all GPU memory, and rejects later allocations of it. The controller must be stopped. Memory that cannot be unmapped for
   * the controller stays allocated.
   * @throws the first error, after all memory was tried.
   */
  close(): void
  /**
   * Keeps all GPU memory allocated until the process ends, and rejects later allocations: for a controller that could not be
   * stopped and may still write.
   */
  abandon(): void
}

/**
 * Returns `dma` extended by GPU memory: `{ where: 'gpu' }` allocates from `gpu` and maps by `provider`; other requests go to
 * `dma`. GPU memory is allocated in multiples of 2 MiB, so that other data never share a page with the controller's. It has no
 * view. Kernels use its `gpuPointer`; the driver uses `fill` and `copyOut` for queues. `free` first ends the controller's
 * access; if that fails, the memory stays allocated.
 */
export function withVram(
  dma: DmaAllocator,
  provider: VramProvider,
  gpu: GpuMemorySource,
  { flush }: VramOptions = {},
): VramAllocator {
  const live = new Set<VramMemory>()
  let state: 'open' | 'closed' | 'abandoned' = 'open'
  return {
    alloc(lengthBytes, request = {}) {
      if (request.where !== 'gpu') return dma.alloc(lengthBytes, request)
      if (state !== 'open') throw new TypeError('dma.alloc: this allocator of GPU memory was closed')
      const fit = checked(lengthBytes, request)
      const block = takeBlock(gpu, fit)
      try {
        const memory: VramMemory = new VramMemory(mapped(provider, gpu, block, fit), {
          provider: provider.name,
          gpu,
          flush,
          isKept: () => state === 'abandoned',
          giveBack: () => {
            live.delete(memory)
            block.device.free()
          },
        })
        live.add(memory)
        return memory
      } catch (error) {
        if (!(error instanceof VramKeptError)) block.device.free()
        throw error
      }
    },
    close() {
      if (state !== 'open') return
      const errors: unknown[] = []
      for (const memory of live) {
        try {
          memory.free()
        } catch (error) {
          errors.push(error)
        }
      }
      state = 'closed'
      if (errors.length > 0) throw errors[0]
    },
    abandon() {
      state = 'abandoned'
    },
  }
}

interface Fit {
  readonly lengthBytes: number
  readonly alignBytes: number
  readonly contiguous: boolean
}

/** GPU memory in whole pages, from `gpuPointer` on. */
interface Block {
  readonly device: DeviceMemory
  readonly gpuPointer: bigint
  readonly lengthBytes: number
}

/** A fitting part of a block, and the mapping of the whole block. */
interface Part {
  readonly mapping: VramMapping
  readonly gpuPointer: bigint
  readonly lengthBytes: number
  readonly segments: readonly DmaSegment[]
}

function checked(lengthBytes: number, { alignBytes = PAGE_BYTES, contiguous = false }: DmaRequest): Fit {
  if (!Number.isSafeInteger(lengthBytes) || lengthBytes <= 0)
    throw new RangeError(`dma.alloc: lengthBytes: expected a positive integer, got ${lengthBytes}`)
  if (!Number.isSafeInteger(alignBytes) || alignBytes <= 0 || !Number.isInteger(Math.log2(alignBytes)))
    throw new RangeError(`dma.alloc: alignBytes: expected a power of two, got ${alignBytes}`)
  return { lengthBytes, alignBytes, contiguous }
}

/** Allocates whole pages; one more if the driver's memory is not aligned to a page. */
function takeBlock(gpu: GpuMemorySource, { lengthBytes, alignBytes }: Fit): Block {
  // Device addresses have the alignment of GPU addresses up to a page of the GPU. For more, search in larger memory.
  const slackBytes = alignBytes > GPU_PAGE_BYTES ? alignBytes : 0
  const wanted = Math.ceil((lengthBytes + slackBytes) / GPU_PAGE_BYTES) * GPU_PAGE_BYTES
  const unit = BigInt(GPU_PAGE_BYTES)
  const device = gpu.alloc(wanted)
  if (device.gpuPointer % unit === 0n) return { device, gpuPointer: device.gpuPointer, lengthBytes: wanted }
  device.free()
  const larger = gpu.alloc(wanted + GPU_PAGE_BYTES)
  return { device: larger, gpuPointer: ((larger.gpuPointer + unit - 1n) / unit) * unit, lengthBytes: wanted }
}

function mapped(provider: VramProvider, gpu: GpuMemorySource, block: Block, fit: Fit): Part {
  // Before the controller has access, whose writes must not be lost.
  gpu.fill(block.gpuPointer, block.lengthBytes, 0)
  const mapping = provider.map(block.gpuPointer, block.lengthBytes)
  const fault = segmentsFault(mapping.segments, block.lengthBytes)
  const at = fault === undefined ? place(mapping.segments, block.lengthBytes, fit) : undefined
  if (at !== undefined)
    return {
      mapping,
      gpuPointer: block.gpuPointer + BigInt(at),
      lengthBytes: fit.lengthBytes,
      segments: sliceSegments(mapping.segments, at, fit.lengthBytes),
    }
  try {
    mapping.release()
  } catch (cause) {
    throw new VramKeptError(provider.name, cause)
  }
  if (fault !== undefined) throw new VramRefusedError({ provider: provider.name, reason: 'bad-segments', found: fault })
  const longest = mapping.segments.reduce((max, segment) => Math.max(max, segment.lengthBytes), 0)
  throw new RangeError(
    `dma.alloc: ${fit.lengthBytes} bytes of GPU memory, aligned to ${fit.alignBytes}` +
      `${fit.contiguous ? ', in one segment' : ''}: not found; the longest run that the driver returned is ${longest} bytes`,
  )
}

/** Returns the offset of a fitting part, by device addresses. */
function place(segments: readonly DmaSegment[], totalBytes: number, fit: Fit): number | undefined {
  const { lengthBytes, alignBytes, contiguous } = fit
  for (const segment of segments) {
    const at = segment.offsetBytes + Math.ceil(segment.iova / alignBytes) * alignBytes - segment.iova
    const end = segment.offsetBytes + segment.lengthBytes
    if (at < end && at + lengthBytes <= (contiguous ? end : totalBytes)) return at
  }
  return undefined
}

/** The allocator of a memory. */
interface Owner {
  /** Name of the provider. */
  readonly provider: string
  readonly gpu: GpuMemorySource
  readonly flush: (() => void) | undefined
  /** Returns whether memory must stay allocated. */
  readonly isKept: () => boolean
  /** Frees the block, which the controller can no longer access. */
  readonly giveBack: () => void
}

/** GPU memory that the controller can access until it is freed. */
class VramMemory implements DmaMemory {
  readonly lengthBytes: number
  readonly segments: readonly DmaSegment[]
  readonly gpuPointer: bigint
  readonly copyOut?: NonNullable<DmaMemory['copyOut']>
  private readonly mapping: VramMapping
  private readonly owner: Owner
  private isFree = false

  constructor({ mapping, gpuPointer, lengthBytes, segments }: Part, owner: Owner) {
    this.lengthBytes = lengthBytes
    this.segments = segments
    this.gpuPointer = gpuPointer
    this.mapping = mapping
    this.owner = owner
    const { gpu } = owner
    if (gpu.copyOut !== undefined)
      this.copyOut = (offsetBytes, into) => {
        this.checkPart(offsetBytes, into.length)
        gpu.copyOut!(gpuPointer + BigInt(offsetBytes), into)
      }
  }

  fill(byte: number, offsetBytes: number, lengthBytes: number): void {
    this.checkPart(offsetBytes, lengthBytes)
    this.owner.gpu.fill(this.gpuPointer + BigInt(offsetBytes), lengthBytes, byte)
  }

  iovaAt(offsetBytes: number): number {
    this.checkReachable()
    if (!Number.isInteger(offsetBytes) || offsetBytes < 0 || offsetBytes >= this.lengthBytes)
      throw new RangeError(`offsetBytes: expected an integer from 0 to ${this.lengthBytes - 1}, got ${offsetBytes}`)
    const { segments } = this
    let low = 0
    let high = segments.length - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (segments[middle]!.offsetBytes <= offsetBytes) low = middle
      else high = middle - 1
    }
    return segments[low]!.iova + offsetBytes - segments[low]!.offsetBytes
  }

  // Kernels and copies have ended before this call, so their writes are in memory.
  forDevice(): void {
    this.checkReachable()
  }

  forHost(): void {
    this.checkReachable()
    this.owner.flush?.()
  }

  free(): void {
    this.checkHeld()
    if (!this.owner.isKept()) {
      this.mapping.release()
      // Not before: if `release` throws, the controller may still write here.
      this.isFree = true
      this.owner.giveBack()
    }
    this.isFree = true
  }

  private checkPart(offsetBytes: number, lengthBytes: number): void {
    this.checkHeld()
    const isInside = [offsetBytes, lengthBytes].every((bytes) => Number.isSafeInteger(bytes) && bytes >= 0)
    if (!isInside || offsetBytes + lengthBytes > this.lengthBytes)
      throw new RangeError(
        `expected a range of 0 to ${this.lengthBytes} bytes, got ${lengthBytes} bytes from ${offsetBytes}`,
      )
  }

  /** Throws for revoked memory: data did not arrive there, even if a command succeeded. */
  private checkReachable(): void {
    this.checkHeld()
    if (this.mapping.isRevoked === true) throw new VramRevokedError(this.owner.provider)
  }

  private checkHeld(): void {
    if (this.isFree) throw new TypeError('this memory was freed')
  }
}

/** Error: an unusable mapping could not be ended. Its GPU memory stays allocated, since the controller may write to it. */
export class VramKeptError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_VRAM_KEPT'
  readonly category = 'device'
  constructor(provider: string, cause: unknown) {
    super(`GPU memory could not be unmapped for the controller by ${provider}, and stays allocated`, {
      facts: [String(cause)],
      next: 'end this process, which frees the memory',
      cause,
    })
  }
}

/** Error: the exporter revoked GPU memory while it was mapped. The controller was stopped before that. */
export class VramRevokedError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_VRAM_REVOKED'
  readonly category = 'device'
  constructor(provider: string) {
    super(`GPU memory mapped by ${provider} was revoked`, {
      facts: ['data read into it since then did not arrive, and its addresses may belong to other memory'],
      next: 'free the memory, close the transport, open it again and allocate new memory',
    })
  }
}
