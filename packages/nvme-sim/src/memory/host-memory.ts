import { randomStream, type Random } from '@gpunvme/nvme-spec/faults'
import type { DmaAllocator, DmaMemory, DmaRequest, DmaSegment } from '@gpunvme/nvme-spec/transport'
import { anything, checkOptions, flag, number, optional, show, type Fields } from '../options.js'
import type { ReachableMemory } from './reachable.js'

const PAGE_BYTES = 4096

/** Above 4 GiB: a truncated address hits nothing, nor does one close to null. */
const FIRST_IOVA = 0x1_0000_0000

export interface HostMemoryOptions {
  /** Maximum number of bytes allocated at a time. */
  readonly limitBytes: number
  /** Scatters the pages of memory that need not be contiguous, so that PRP lists are used. */
  readonly fragmented: boolean
  readonly seed: number
  /** First device address. Default: above 4 GiB. */
  readonly firstIova?: number
  /** For messages: what the memory is, and the option that enlarges it. */
  readonly name?: string
  readonly option?: string
}

/** Number of freed runs that are kept for messages. */
const MAX_FREED = 1024

interface Range {
  readonly iova: number
  readonly lengthBytes: number
}

/** A run of device addresses and its bytes. A class, so that all have one shape: every command looks here. */
class Mapping implements Range {
  readonly iova: number
  readonly lengthBytes: number
  readonly offsetBytes: number
  /** Undefined after it was freed. */
  memory: ArrayBuffer | undefined

  constructor({ iova, lengthBytes, offsetBytes }: DmaSegment, memory: ArrayBuffer) {
    this.iova = iova
    this.lengthBytes = lengthBytes
    this.offsetBytes = offsetBytes
    this.memory = memory
  }
}

/**
 * Host memory as seen by the controller: a sparse address space. An unused page follows every run, and no address is
 * reused, so that overruns and late transfers are detected.
 */
export class HostMemory implements DmaAllocator, ReachableMemory {
  private readonly options: HostMemoryOptions
  private readonly random: Random
  /** In address order. */
  private mappings: Mapping[] = []
  /** Runs freed last. */
  private readonly freed = new FreedRanges()
  private lastHit: Mapping | undefined
  private readonly firstIova: number
  private nextIova: number
  private usedBytes = 0

  constructor(options: HostMemoryOptions) {
    this.options = options
    this.random = randomStream(options.seed, 'host memory')
    this.firstIova = options.firstIova ?? FIRST_IOVA
    this.nextIova = this.firstIova
  }

  alloc(lengthBytes: number, request: DmaRequest = {}): DmaMemory {
    checkRequest(lengthBytes, request)
    const { alignBytes = PAGE_BYTES, contiguous = false } = request
    const { limitBytes, fragmented, name = 'simulated host memory', option = 'hostMemoryBytes' } = this.options
    if (this.usedBytes + lengthBytes > limitBytes) {
      throw new RangeError(
        `${name}: ${lengthBytes} bytes requested, ${limitBytes - this.usedBytes} of ${limitBytes} free; ` +
          `raise simulate({ ${option} })`,
      )
    }
    const segments = this.assignAddresses(lengthBytes, alignBytes, fragmented && !contiguous)
    const buffer = new ArrayBuffer(lengthBytes)
    const mappings = segments.map((segment) => new Mapping(segment, buffer))
    // Addresses only grow, so sorting the new mappings keeps the whole list in order.
    this.mappings = this.mappings.concat(mappings.toSorted((a, b) => a.iova - b.iova))
    this.usedBytes += lengthBytes
    return new SimulatedMemory(buffer, segments, () => {
      this.usedBytes -= lengthBytes
      for (const mapping of mappings) {
        mapping.memory = undefined
        this.freed.add(mapping)
      }
      this.mappings = this.mappings.filter(({ memory }) => memory !== undefined)
    })
  }

  bytes(iova: number, lengthBytes: number): Uint8Array | undefined {
    const mapping = this.find(iova, lengthBytes)
    return mapping?.memory && new Uint8Array(mapping.memory, mapping.offsetBytes + iova - mapping.iova, lengthBytes)
  }

  /** Never more than one piece: an unused page follows every run. */
  pieces(iova: number, lengthBytes: number): readonly Uint8Array[] | undefined {
    const bytes = this.bytes(iova, lengthBytes)
    return bytes && [bytes]
  }

  has(iova: number, lengthBytes: number): boolean {
    return this.find(iova, lengthBytes) !== undefined
  }

  explainUnmapped(iova: number): string {
    const there = this.find(iova, 1)
    if (there) return `no memory there after the first ${there.iova + there.lengthBytes - iova} bytes`
    const isKnown = this.freed.isComplete || iova >= this.nextIova || iova < this.firstIova
    if (this.freed.has(iova)) return 'no memory there, it was freed'
    return `no memory there, it was never allocated${isKnown ? '' : ', or freed long ago'}`
  }

  private find(iova: number, lengthBytes: number): Mapping | undefined {
    const last = this.lastHit
    if (last?.memory && covers(last, iova, lengthBytes)) return last
    const { mappings } = this
    let low = 0
    let high = mappings.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (mappings[middle]!.iova <= iova) low = middle + 1
      else high = middle
    }
    const found = mappings[low - 1]
    if (found === undefined || !covers(found, iova, lengthBytes)) return undefined
    this.lastHit = found
    return found
  }

  private assignAddresses(lengthBytes: number, alignBytes: number, fragmented: boolean): DmaSegment[] {
    // Every run begins at a multiple of the alignment and holds whole pages of that length, as queues, PRP lists and
    // data need on a controller with larger memory pages.
    const unit = Math.max(alignBytes, PAGE_BYTES)
    const runs = fragmented ? this.cutIntoRuns(lengthBytes, unit) : [{ offsetBytes: 0, lengthBytes }]
    const iovas = new Float64Array(runs.length)
    for (const index of this.order(runs.length)) {
      const iova = Math.ceil(this.nextIova / unit) * unit
      iovas[index] = iova
      this.nextIova = (Math.ceil((iova + runs[index]!.lengthBytes) / PAGE_BYTES) + 1) * PAGE_BYTES
    }
    return runs.map((run, index) => ({ ...run, iova: iovas[index]! }))
  }

  /** Runs of one to four pages of `pageBytes`: single pages, and adjacent ones that a controller may merge. */
  private cutIntoRuns(lengthBytes: number, pageBytes: number): { offsetBytes: number; lengthBytes: number }[] {
    const runs = []
    for (let offsetBytes = 0; offsetBytes < lengthBytes;) {
      const runBytes = Math.min(lengthBytes - offsetBytes, pageBytes * (1 + Math.floor(this.random() * 4)))
      runs.push({ offsetBytes, lengthBytes: runBytes })
      offsetBytes += runBytes
    }
    return runs
  }

  /** 0 to count - 1, shuffled. */
  private order(count: number): Uint32Array {
    const order = Uint32Array.from({ length: count }, (_, index) => index)
    for (let i = count - 1; i > 0; i--) {
      const j = Math.floor(this.random() * (i + 1))
      const swapped = order[i]!
      order[i] = order[j]!
      order[j] = swapped
    }
    return order
  }
}

/** The runs that were freed last. */
class FreedRanges {
  /** No run was dropped. */
  isComplete = true
  private readonly ranges: Range[] = []
  private next = 0

  add({ iova, lengthBytes }: Range): void {
    this.isComplete = this.ranges.length < MAX_FREED
    this.ranges[this.next] = { iova, lengthBytes }
    this.next = (this.next + 1) % MAX_FREED
  }

  has(iova: number): boolean {
    return this.ranges.some((range) => covers(range, iova, 1))
  }
}

/** Freed memory has no addresses: `iovaAt` throws. Its view still shows the old bytes. */
class SimulatedMemory implements DmaMemory {
  readonly view: DataView
  readonly lengthBytes: number
  readonly segments: readonly DmaSegment[]
  private release: (() => void) | undefined

  constructor(buffer: ArrayBuffer, segments: readonly DmaSegment[], release: () => void) {
    this.view = new DataView(buffer)
    this.lengthBytes = buffer.byteLength
    this.segments = segments
    this.release = release
  }

  iovaAt(offsetBytes: number): number {
    const { segments, lengthBytes } = this
    if (this.release === undefined) throw new TypeError(`iovaAt(${offsetBytes}): this memory was freed`)
    if (!(offsetBytes >= 0 && offsetBytes < lengthBytes)) {
      throw new RangeError(`iovaAt(${offsetBytes}): the memory has ${lengthBytes} bytes`)
    }
    let low = 0
    let high = segments.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (segments[middle]!.offsetBytes <= offsetBytes) low = middle
      else high = middle - 1
    }
    const { iova, offsetBytes: start } = segments[low]!
    return iova + offsetBytes - start
  }

  // The simulated system is coherent: both sides see the same bytes.
  forDevice(): void {}
  forHost(): void {}

  free(): void {
    if (this.release === undefined) throw new TypeError('free(): this memory was already freed')
    this.release()
    this.release = undefined
  }
}

function covers({ iova, lengthBytes }: Range, first: number, count: number): boolean {
  return first >= iova && first + count <= iova + lengthBytes
}

const isPowerOfTwo = (value: number) =>
  Number.isSafeInteger(value) && value >= 1 && 2 ** Math.round(Math.log2(value)) === value

const requestFields: Fields<DmaRequest> = {
  alignBytes: optional(number(isPowerOfTwo, 'a power of two')),
  contiguous: optional(flag),
  where: optional(anything),
}

/** @throws RangeError for a value out of range; TypeError for one of another type, and for an unknown name. */
export function checkRequest(lengthBytes: number, request: DmaRequest): void {
  if (!Number.isSafeInteger(lengthBytes) || lengthBytes < 1) {
    const Wrong = typeof lengthBytes === 'number' ? RangeError : TypeError
    throw new Wrong(`alloc: expected a length of at least 1 byte, got ${show(lengthBytes)}`)
  }
  checkOptions('alloc', request, requestFields)
  const { where = 'host' } = request
  if (where !== 'host') throw new TypeError(`alloc: only host memory is available, got ${show(where)}`)
}
