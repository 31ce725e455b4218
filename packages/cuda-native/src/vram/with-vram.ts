import { GpuNvmeError } from '@gpunvme/nvme-spec'
import type { DeviceMemory, DmaAllocator, DmaMemory, DmaRequest, DmaSegment } from '@gpunvme/nvme-spec/transport'
import { VramRefusedError, type VramMapping, type VramProvider } from './provider.js'
import { PAGE_BYTES, segmentsFault, sliceSegments } from './segments.js'
import { GPU_PAGE_BYTES } from './static-bar1.js'

/** Where GPU memory comes from: the driver, through whoever has it loaded. `CudaMemorySource` is one. */
export interface GpuMemorySource {
  /** GPU memory of `lengthBytes` bytes. @throws when there is none left. */
  alloc(lengthBytes: number): DeviceMemory
  /** Sets bytes; they are when it returns, whatever kernels run. */
  fill(gpuPointer: bigint, lengthBytes: number, byte: number): void
  /** Copies as many bytes as `into` has; they are there when it returns, whatever kernels run. */
  copyOut?(gpuPointer: bigint, into: Uint8Array): void
}

/** What `withVram` may be told. */
export interface VramOptions {
  /**
   * Makes what the controller wrote visible to the GPU, as `decideOrdering` says whether it must be: called by `forHost`
   * of GPU memory, which every engine calls for what it has read before it tells anybody.
   */
  readonly flush?: () => void
}

/** An allocator that has GPU memory too. */
export interface VramAllocator extends DmaAllocator {
  /**
   * Gives all GPU memory back, also what was not freed; the controller must be stopped. Nothing is given out after it.
   * @throws what failed first, when all of it was tried; what could not be taken from the controller is kept.
   */
  close(): void
  /**
   * Gives nothing out any more and nothing back: for a controller that could not be stopped and may still write. The
   * memory goes with the process.
   */
  abandon(): void
}

/**
 * `dma` with GPU memory: `{ where: 'gpu' }` is served by `provider` from memory of `gpu`, everything else by `dma`. GPU
 * memory is taken in whole 2 MiB, so that nobody else's data share a page with the controller's. It has no view; its
 * `gpuPointer` is where kernels find it, and `fill` and `copyOut` are what the driver needs of it for queues. `free` takes the mapping from the controller first and gives the memory back
 * then; a mapping that does not end keeps its memory.
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
      if (state !== 'open') throw new TypeError('dma.alloc: this GPU memory was closed')
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

/** GPU memory that nobody else's data share a page with: from `gpuPointer` on. */
interface Block {
  readonly device: DeviceMemory
  readonly gpuPointer: bigint
  readonly lengthBytes: number
}

/** A part of a block that fits, and the mapping of all of it. */
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

/** Whole pages: with more than is needed only where the driver's memory does not begin at one. */
function takeBlock(gpu: GpuMemorySource, { lengthBytes, alignBytes }: Fit): Block {
  // The device's addresses are aligned as the GPU's are up to a page of the GPU; beyond that, room to search in.
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
  // Before the controller can reach it: what it writes is not to be lost.
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
  const longest = mapping.segments.reduce((most, segment) => Math.max(most, segment.lengthBytes), 0)
  throw new RangeError(
    `dma.alloc: ${fit.lengthBytes} bytes of GPU memory, aligned to ${fit.alignBytes}` +
      `${fit.contiguous ? ', in one segment' : ''}: the longest run of what the driver gave is ${longest} bytes`,
  )
}

/** Where in the memory it fits, by the device's addresses. */
function place(segments: readonly DmaSegment[], totalBytes: number, fit: Fit): number | undefined {
  const { lengthBytes, alignBytes, contiguous } = fit
  for (const segment of segments) {
    const at = segment.offsetBytes + Math.ceil(segment.iova / alignBytes) * alignBytes - segment.iova
    const end = segment.offsetBytes + segment.lengthBytes
    if (at < end && at + lengthBytes <= (contiguous ? end : totalBytes)) return at
  }
  return undefined
}

/** What memory asks of the allocator that it came from. */
interface Owner {
  /** Its name. */
  readonly provider: string
  readonly gpu: GpuMemorySource
  readonly flush: (() => void) | undefined
  /** Nothing is given back any more. */
  readonly isKept: () => boolean
  /** Gives the block back; nothing reaches it any more. */
  readonly giveBack: () => void
}

/** GPU memory that the controller reaches. Once it is freed it has no addresses any more. */
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

  // What kernels and copies wrote is in memory when they have ended, which is before anybody asks for this.
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
      // Only now: where that throws, the controller may still write here.
      this.isFree = true
      this.owner.giveBack()
    }
    this.isFree = true
  }

  private checkPart(offsetBytes: number, lengthBytes: number): void {
    this.checkHeld()
    const isInside = [offsetBytes, lengthBytes].every((bytes) => Number.isSafeInteger(bytes) && bytes >= 0)
    if (!isInside || offsetBytes + lengthBytes > this.lengthBytes)
      throw new RangeError(`expected bytes of ${this.lengthBytes}, got ${lengthBytes} from ${offsetBytes} on`)
  }

  /** What the controller was to write did not arrive where memory has been taken back, whatever a completion says. */
  private checkReachable(): void {
    this.checkHeld()
    if (this.mapping.isRevoked === true) throw new VramRevokedError(this.owner.provider)
  }

  private checkHeld(): void {
    if (this.isFree) throw new TypeError('this memory was freed')
  }
}

/** A mapping that could not be used could not be ended either. Its GPU memory stays allocated: it may be written to. */
export class VramKeptError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_VRAM_KEPT'
  readonly category = 'device'
  constructor(provider: string, cause: unknown) {
    super(`GPU memory could not be taken back from the controller by ${provider}, and stays allocated`, {
      facts: [String(cause)],
      next: 'end this process: the memory goes with it',
      cause,
    })
  }
}

/** The owner of GPU memory took it back while the controller could reach it; the controller was stopped before that. */
export class VramRevokedError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_VRAM_REVOKED'
  readonly category = 'device'
  constructor(provider: string) {
    super(`GPU memory was taken back from the controller, which had it by ${provider}`, {
      facts: ['what was read into it since is not there, and its addresses are no longer its own'],
      next: 'free it, close the transport and open it again; then allocate anew',
    })
  }
}
