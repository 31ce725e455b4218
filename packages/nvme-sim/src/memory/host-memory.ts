import { randomStream, type Random } from '@gpunvme/nvme-spec/faults'
import type { DmaAllocator, DmaMemory, DmaRequest, DmaSegment } from '@gpunvme/nvme-spec/transport'
import type { ReachableMemory } from './reachable.js'

const PAGE_BYTES = 4096

/** Above 4 GiB: an address that lost its upper half hits nothing, and so does one close to null. */
const FIRST_IOVA = 0x1_0000_0000

export interface HostMemoryOptions {
  /** Most bytes that may be allocated at a time. */
  readonly limitBytes: number
  /** Scatters the pages of memory that need not be contiguous, so that PRP lists are really used. */
  readonly fragmented: boolean
  readonly seed: number
  /** Where it begins for devices; above 4 GiB when not given. */
  readonly firstIova?: number
  /** For messages: what it is, and the option that makes it larger. */
  readonly name?: string
  readonly option?: string
}

/** How many freed runs are remembered, for messages. */
const MOST_FREED = 1024

interface Range {
  readonly iova: number
  readonly lengthBytes: number
}

/** A run of device addresses and the bytes behind it. Made as a class, so that all have one shape: each command looks. */
class Mapping implements Range {
  readonly iova: number
  readonly lengthBytes: number
  readonly offsetBytes: number
  /** Undefined once it was freed. */
  memory: ArrayBuffer | undefined

  constructor({ iova, lengthBytes, offsetBytes }: DmaSegment, memory: ArrayBuffer) {
    this.iova = iova
    this.lengthBytes = lengthBytes
    this.offsetBytes = offsetBytes
    this.memory = memory
  }
}

/**
 * The host's memory as the controller sees it: addresses, most of them with nothing behind. An unused page stands
 * after every run, and no address is ever given out twice, so that a transfer that runs over or comes late is found.
 */
export class HostMemory implements DmaAllocator, ReachableMemory {
  private readonly options: HostMemoryOptions
  private readonly random: Random
  /** In address order. */
  private mappings: Mapping[] = []
  /** What was freed last. */
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
    const { alignBytes = PAGE_BYTES, contiguous = false, where = 'host' } = request
    checkRequest(lengthBytes, alignBytes, where)
    const { limitBytes, fragmented, name = 'simulated host memory', option = 'hostMemoryBytes' } = this.options
    if (this.usedBytes + lengthBytes > limitBytes) {
      throw new RangeError(
        `${name}: ${lengthBytes} bytes asked for, ${limitBytes - this.usedBytes} of ${limitBytes} free; ` +
          `raise simulate({ ${option} })`,
      )
    }
    const segments = this.assignAddresses(lengthBytes, alignBytes, fragmented && !contiguous)
    const buffer = new ArrayBuffer(lengthBytes)
    const mappings = segments.map((segment) => new Mapping(segment, buffer))
    // Addresses only ever grow, so sorting what is new keeps the whole in order.
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

  /** Never more than one: an unused page stands behind every run. */
  pieces(iova: number, lengthBytes: number): readonly Uint8Array[] | undefined {
    const bytes = this.bytes(iova, lengthBytes)
    return bytes && [bytes]
  }

  has(iova: number, lengthBytes: number): boolean {
    return this.find(iova, lengthBytes) !== undefined
  }

  lack(iova: number): string {
    const there = this.find(iova, 1)
    if (there) return `no memory there behind the first ${there.iova + there.lengthBytes - iova} bytes`
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
    const runs = fragmented ? this.cutIntoRuns(lengthBytes) : [{ offsetBytes: 0, lengthBytes }]
    const iovas = new Float64Array(runs.length)
    for (const index of this.order(runs.length)) {
      const unit = index === 0 ? Math.max(alignBytes, PAGE_BYTES) : PAGE_BYTES
      const iova = Math.ceil(this.nextIova / unit) * unit
      iovas[index] = iova
      this.nextIova = (Math.ceil((iova + runs[index]!.lengthBytes) / PAGE_BYTES) + 1) * PAGE_BYTES
    }
    return runs.map((run, index) => ({ ...run, iova: iovas[index]! }))
  }

  /** Runs of one to four pages: single pages, and neighbours that a controller may take together. */
  private cutIntoRuns(lengthBytes: number): { offsetBytes: number; lengthBytes: number }[] {
    const runs = []
    for (let offsetBytes = 0; offsetBytes < lengthBytes;) {
      const runBytes = Math.min(lengthBytes - offsetBytes, PAGE_BYTES * (1 + Math.floor(this.random() * 4)))
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
  /** Nothing has been forgotten. */
  isComplete = true
  private readonly ranges: Range[] = []
  private next = 0

  add({ iova, lengthBytes }: Range): void {
    this.isComplete = this.ranges.length < MOST_FREED
    this.ranges[this.next] = { iova, lengthBytes }
    this.next = (this.next + 1) % MOST_FREED
  }

  has(iova: number): boolean {
    return this.ranges.some((range) => covers(range, iova, 1))
  }
}

/** Memory that was freed has no addresses any more: `iovaAt` throws. Its view is still the bytes that were there. */
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

  // The simulated system is coherent: both sides look at the same bytes.
  forDevice(): void {}
  forHost(): void {}

  free(): void {
    if (this.release === undefined) throw new TypeError('free(): this memory was freed before')
    this.release()
    this.release = undefined
  }
}

function covers({ iova, lengthBytes }: Range, first: number, count: number): boolean {
  return first >= iova && first + count <= iova + lengthBytes
}

/** @throws RangeError or TypeError for memory that cannot be asked for here. */
export function checkRequest(lengthBytes: number, alignBytes: number, where: string): void {
  if (!Number.isSafeInteger(lengthBytes) || lengthBytes < 1) {
    throw new RangeError(`alloc: expected a length of at least 1 byte, got ${lengthBytes}`)
  }
  if (!Number.isSafeInteger(alignBytes) || alignBytes < 1 || !Number.isInteger(Math.log2(alignBytes))) {
    throw new RangeError(`alloc: expected an alignment that is a power of two, got ${alignBytes}`)
  }
  if (where !== 'host') throw new TypeError(`alloc: the simulator has host memory only, asked for '${where}'`)
}
