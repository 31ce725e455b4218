import { checkOptions, fit, isObject, show } from '../arguments.js'
import { DeviceBuffer } from './device-buffer.js'
import { deviceOutcome, type DeviceOutcome } from './device-outcome.js'
import type { DeviceWords } from './device-words.js'
import {
  argumentOf,
  DESTINATION,
  encode,
  FETCH,
  FETCH_MAX_POSITIONS,
  FETCH_PROGRESS,
  FETCH_RESULT,
  FETCH_VERSION,
} from './layout.js'

/** Names of `gnv_fetch_ending`, by its values. */
const ENDINGS = ['pending', 'verified', 'corrupt', 'read-failed', 'rejected', 'skipped'] as const
/** Alignment of destinations and arrays. */
const ALIGN_BYTES = 16
const WORD_BYTES = 4

/** Location of a model's experts: `expertTable` of @gpunvme/layer-loader makes it. */
export interface FetchTable {
  readonly bytes: Uint8Array
  readonly layers: readonly string[]
  readonly maxBytes: number
  readonly maxExtents: number
}

/** Options of `GpuDevice.expertFetch`. */
export interface ExpertFetchOptions {
  readonly table: FetchTable
  /** Number of experts that a fetch requests: 1 to 512. */
  readonly positions: number
  /** Memory for data, which the GPU can access: `positions` times the length of the largest expert. */
  readonly buffer: DeviceBuffer
  /** Maximum bytes of a read. Shorter reads spread an expert over more queues. Default: as the drive allows. */
  readonly maxReadBytes?: number
}

/** How the request at one position ended. */
export interface FetchResult {
  /** Number of the expert that the router selected. */
  readonly expert: number
  readonly ending: (typeof ENDINGS)[number]
  /** `gnv_fetch_reason` of `rejected`, otherwise 0. */
  readonly reason: number
  /** Position whose destination has the data: a lower one if it has the same identifier. */
  readonly position: number
  /** Extent of the expert that was corrupt or not read. */
  readonly extent: number
  /** CRC-32 in the table and of the data, of `corrupt`. */
  readonly expected: number
  readonly actual: number
  /** Outcome of the read, of `read-failed`. */
  readonly read: DeviceOutcome
}

/** A `gnv_fetch` of kernels, with its memory: `positions` experts of a layer at a time. */
export class ExpertFetch {
  /** The GPU's address of the identifiers, 32-bit words by position, which the router stores. */
  readonly ids: bigint
  /** Distance between the destinations of two positions in the buffer, in bytes. */
  readonly strideBytes: number
  readonly #options: ExpertFetchOptions
  readonly #words: DeviceWords
  readonly #places: ReturnType<typeof placesOf>

  /** Use `GpuDevice.expertFetch`. */
  constructor(options: ExpertFetchOptions, allocate: (lengthBytes: number) => DeviceWords) {
    checkArguments(options)
    const { table, positions, buffer } = options
    // Whole blocks, and so a multiple of ALIGN_BYTES.
    this.strideBytes = table.maxBytes
    if (buffer.lengthBytes < positions * this.strideBytes) {
      throw new RangeError(
        `buffer: expected at least ${positions * this.strideBytes} bytes, ${this.strideBytes} for each position, ` +
          `got ${buffer.lengthBytes}`,
      )
    }
    this.#options = options
    this.#places = placesOf(options)
    this.#words = allocate(this.#places.end)
    this.ids = this.#words.gpuPointer + BigInt(this.#places.ids)
    this.clear()
  }

  /** Returns the `gnv_fetch` of a layer, for `cuda.launch`. @throws RangeError for a name that the table does not have. */
  argument(layer: string): Uint8Array {
    const { table, positions, buffer, maxReadBytes = 0 } = this.#options
    const number = table.layers.indexOf(layer)
    if (number < 0) throw new RangeError(`layer: expected one of ${table.layers.join(', ')}, got ${show(layer)}`)
    const at = (place: number) => this.#words.gpuPointer + BigInt(place)
    const { ids, destinations, results, progress, crcs } = this.#places
    return argumentOf(FETCH, {
      table: at(0),
      ids: at(ids),
      destinations: at(destinations),
      results: at(results),
      progress: at(progress),
      crcs: at(crcs),
      buffer: buffer.argument,
      layer: number,
      count: positions,
      max_read_bytes: maxReadBytes,
    })
  }

  /** Reads the results of the last fetch, by position. Await the end of its kernels first. @throws CudaCallError */
  results(): FetchResult[] {
    const { positions } = this.#options
    const { ids, results } = this.#places
    const { view } = this.#words
    const { ending, reason, position, extent, expected, actual, read } = FETCH_RESULT.members
    this.#words.load(ids, positions * WORD_BYTES)
    this.#words.load(results, positions * FETCH_RESULT.bytes)
    return Array.from({ length: positions }, (_, index) => {
      const at = results + index * FETCH_RESULT.bytes
      const word = ([offset]: readonly [number, number]) => view.getUint32(at + offset, true)
      return {
        expert: view.getUint32(ids + index * WORD_BYTES, true),
        ending: ENDINGS[word(ending)]!,
        reason: word(reason),
        position: word(position),
        extent: word(extent),
        expected: word(expected),
        actual: word(actual),
        read: deviceOutcome(view.getBigUint64(at + read[0], true)),
      }
    })
  }

  /**
   * Sets everything but the table to its initial state. Required after kernels of a fetch did not run to their end.
   * @throws CudaCallError, CudaTimeoutError
   */
  clear(): void {
    const { table, positions } = this.#options
    const { view } = this.#words
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
    bytes.fill(0)
    bytes.set(table.bytes)
    for (let position = 0; position < positions; position++) {
      encode(DESTINATION, view, this.#places.destinations + position * DESTINATION.bytes, {
        offset: position * this.strideBytes,
        bytes: this.strideBytes,
      })
    }
    this.#words.store()
  }

  /** Frees the table and all words. All kernels that use the fetch have ended. */
  free(): void {
    this.#words.free()
  }
}

/** Offsets in the memory of a fetch; the table is at 0. */
function placesOf({ table, positions }: ExpertFetchOptions) {
  let end = 0
  const take = (bytes: number) => {
    const at = end
    end += Math.ceil(bytes / ALIGN_BYTES) * ALIGN_BYTES
    return at
  }
  take(table.bytes.length)
  const ids = take(positions * WORD_BYTES)
  const destinations = take(positions * DESTINATION.bytes)
  const results = take(positions * FETCH_RESULT.bytes)
  const progress = take(positions * FETCH_PROGRESS.bytes)
  const crcs = take(positions * table.maxExtents * WORD_BYTES)
  return { ids, destinations, results, progress, crcs, end }
}

function checkArguments(options: ExpertFetchOptions): void {
  const isPositions = (value: unknown) =>
    Number.isInteger(value) && (value as number) >= 1 && (value as number) <= FETCH_MAX_POSITIONS
  const isTable = (value: unknown) =>
    isObject(value) && value['bytes'] instanceof Uint8Array && Array.isArray(value['layers'])
  checkOptions(
    'expertFetch',
    options,
    {
      table: fit('a table of expertTable() of @gpunvme/layer-loader', isTable),
      positions: fit(`a whole number from 1 to ${FETCH_MAX_POSITIONS}`, isPositions),
      buffer: fit('a buffer that the GPU can access, from engine.buffer()', (value) =>
        value instanceof DeviceBuffer && value.gpuPointer !== undefined),
      maxReadBytes: fit('a whole number of 1 or more', (value) =>
        Number.isSafeInteger(value) && (value as number) >= 1),
    },
    ['table', 'positions', 'buffer'],
  )
  const { bytes } = options.table
  const version = bytes.length < 4 ? undefined : new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true)
  if (version !== FETCH_VERSION) {
    throw new RangeError(
      `table: expected version ${FETCH_VERSION}, got ${show(version)}; install the same version of @gpunvme/layer-loader`,
    )
  }
}
