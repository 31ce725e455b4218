import { checkOptions, fit, show } from '../arguments.js'
import { DeviceBuffer } from './device-buffer.js'
import type { DriveFacts, GpuDevice } from './device-queues.js'
import type { DeviceWords } from './device-words.js'
import { ARRAY, ARRAY_VERSION, argumentOf, PAGE_NUMBER_BITS, PAGE_SET } from './layout.js'

const PAGE_BYTES = 65_536
const WAYS = 16
const MAX_SLOTS = 2 ** 31
const WORD_BYTES = 8

/** Options of `GpuDevice.array`. */
export interface DeviceArrayOptions {
  /** Memory for pages: a buffer that the GPU can access. */
  readonly cache: DeviceBuffer
  /** Index of the drive in the device. Default: 0. */
  readonly drive?: number
  /** First block of the array. Default: 0. */
  readonly firstBlock?: number
  /** Length of the array. Default: all blocks from `firstBlock` on. */
  readonly lengthBytes?: number
  /** Length of a page, a power of two from a block to a command. Default: 64 KiB, or the longest command if it is shorter. */
  readonly pageBytes?: number
  /** Number of slots in which a page can be. Default: 16, or the number of all slots if it is smaller. */
  readonly ways?: number
}

/** What happened to the pages of an array. Groups of lanes that accessed a page together count once. */
export interface ArrayStatistics {
  /** Accesses to a page in the cache. */
  readonly hits: number
  /** Accesses that read the page from the drive. */
  readonly misses: number
  /** Accesses that waited for a read by another thread. */
  readonly coalesced: number
  /** Pages that were replaced. */
  readonly evictions: number
  /** Accesses that ended with GNV_BUSY because they obtained no page in time. */
  readonly busy: number
}

/** A `gnv::Array` of kernels: a read-only part of a drive with a page cache. */
export class DeviceArray {
  /** The `gnv::Array`, for `cuda.launch`. Its element type is that of the kernel. */
  readonly argument: Uint8Array
  /** Number of pages that fit into the cache. */
  readonly slots: number
  readonly #words: DeviceWords
  readonly #sets: number

  /** Use `GpuDevice.array`. */
  constructor(device: GpuDevice, options: DeviceArrayOptions, allocate: (lengthBytes: number) => DeviceWords) {
    const { cache, drive = 0 } = options
    checkArguments(device, options)
    const facts = device.drives[drive]!
    const pageBytes = pageBytesOf(options, facts)
    const { firstBlock, lengthBytes } = extentOf(options, facts, pageBytes)
    const { sets, ways } = shapeOf(options, pageBytes)
    this.#sets = sets
    this.slots = sets * ways
    this.#words = allocate(sets * PAGE_SET.bytes + 2 * WORD_BYTES * this.slots)
    const words = this.#words.gpuPointer + BigInt(sets * PAGE_SET.bytes)
    this.argument = argumentOf(ARRAY, {
      version: ARRAY_VERSION,
      drive,
      device: device.argument,
      first_block: firstBlock,
      bytes: lengthBytes,
      memory: cache.argument,
      sets: this.#words.gpuPointer,
      words,
      outcomes: words + BigInt(WORD_BYTES * this.slots),
      page_shift: Math.log2(pageBytes),
      block_shift: Math.log2(facts.blockBytes),
      set_shift: Math.log2(sets),
      ways,
    })
    this.clear()
  }

  /** Reads the statistics from the GPU, also while kernels run. @throws CudaCallError, CudaTimeoutError */
  statistics(): ArrayStatistics {
    const { view } = this.#words
    this.#words.load(0, this.#sets * PAGE_SET.bytes)
    const sum = ([offset]: readonly [number, number]) => {
      let all = 0n
      for (let set = 0; set < this.#sets; set++) all += view.getBigUint64(set * PAGE_SET.bytes + offset, true)
      return Number(all)
    }
    const { hits, misses, coalesced, evictions, busy } = PAGE_SET.members
    return {
      hits: sum(hits),
      misses: sum(misses),
      coalesced: sum(coalesced),
      evictions: sum(evictions),
      busy: sum(busy),
    }
  }

  /**
   * Empties the cache, and sets the statistics to 0. All kernels that use the array have ended. After a time-out, reset the
   * controller first: it may still write to slots. @throws CudaCallError, CudaTimeoutError
   */
  clear(): void {
    const { view } = this.#words
    new Uint8Array(view.buffer, view.byteOffset, view.byteLength).fill(0)
    this.#words.store()
  }

  /** Frees the words of the cache, not its memory. All kernels that use the array have ended. */
  free(): void {
    this.#words.free()
  }
}

function checkArguments(device: GpuDevice, options: DeviceArrayOptions): void {
  const isDrive = (value: unknown) => Number.isInteger(value) && device.drives[value as number] !== undefined
  const whole = (min: number) =>
    fit(`a whole number of ${min} or more`, (value) => Number.isSafeInteger(value) && (value as number) >= min)
  const isCache = (value: unknown) => value instanceof DeviceBuffer && value.gpuPointer !== undefined
  const checks = {
    cache: fit('a buffer that the GPU can access, from engine.buffer()', isCache),
    drive: fit(`the index of one of the device's ${device.drives.length} drives`, isDrive),
    ...{ firstBlock: whole(0), lengthBytes: whole(1), pageBytes: whole(1), ways: whole(1) },
  }
  checkOptions('array', options, checks, ['cache'])
}

function pageBytesOf({ pageBytes }: DeviceArrayOptions, { blockBytes, maxBlocks }: DriveFacts): number {
  const longest = blockBytes * 2 ** Math.floor(Math.log2(maxBlocks))
  if (pageBytes === undefined) return Math.min(longest, Math.max(PAGE_BYTES, blockBytes))
  if (Number.isInteger(Math.log2(pageBytes)) && pageBytes >= blockBytes && pageBytes <= longest) return pageBytes
  throw new RangeError(`pageBytes: expected a power of two from ${blockBytes} to ${longest}, got ${show(pageBytes)}`)
}

function extentOf({ firstBlock = 0, lengthBytes }: DeviceArrayOptions, drive: DriveFacts, pageBytes: number) {
  const { blocks, blockBytes } = drive
  if (firstBlock >= blocks) {
    throw new RangeError(`firstBlock: expected a block of the namespace, below ${blocks}, got ${firstBlock}`)
  }
  const max = Math.min((blocks - firstBlock) * blockBytes, pageBytes * 2 ** PAGE_NUMBER_BITS)
  const length = lengthBytes ?? max
  if (length > max)
    throw new RangeError(`lengthBytes: expected at most ${max} from block ${firstBlock} on, got ${length}`)
  return { firstBlock, lengthBytes: length }
}

/** Sets are a power of two; slots beyond that are not used. */
function shapeOf({ cache, ways }: DeviceArrayOptions, pageBytes: number) {
  const slots = Math.min(MAX_SLOTS, Math.floor(cache.lengthBytes / pageBytes))
  const used = ways ?? Math.min(WAYS, slots)
  if (slots < 1)
    throw new RangeError(`cache: expected memory for a page of ${pageBytes} bytes, got ${cache.lengthBytes}`)
  if (used > slots)
    throw new RangeError(`ways: expected at most ${slots}, the pages that fit into the cache, got ${used}`)
  return { sets: 2 ** Math.floor(Math.log2(slots / used)), ways: used }
}
