import { asStore, type Readable } from '../store/as-store.js'
import type { BlockStore } from '../store/store.js'
import { HostBuffer } from '../flow/buffers.js'
import { MIN_UNIT_BYTES, MEMBER_DATA_BYTES } from './format.js'

/** Options of `measureWeights`. */
export interface MeasureWeightsOptions {
  /** Bytes read from each member. Default: 16 MiB, less for a smaller one. */
  readonly bytes?: number
  readonly signal?: AbortSignal
}

/** Speed of a store by its own clock. */
export interface Speed {
  readonly bytesPerSecond: number
  /** Time from the submission of a short read to its end, in nanoseconds. */
  readonly latencyNs: number
}

const DEFAULT_BYTES = 16 * 1024 * 1024

/**
 * Measures the rate of each member, in bytes per second by its own clock. All are read at once, as by a set, so that
 * shared links count. For `createStripe({ weights })`, and for `openSet({ rates })` of a mirror.
 * @throws RangeError for members without space for data; errors of a member's `read`.
 */
export async function measureWeights(
  members: readonly Readable[],
  options: MeasureWeightsOptions = {},
): Promise<number[]> {
  const speeds = await Promise.all(members.map((member) => measure(asStore(member), options)))
  return speeds.map(({ bytesPerSecond }) => bytesPerSecond)
}

/** One short read, then a long one. @throws the errors of `measureWeights`. */
export async function measure(
  store: BlockStore,
  { bytes = DEFAULT_BYTES, signal }: MeasureWeightsOptions,
): Promise<Speed> {
  const { blockBytes, capacityBytes, dma } = store
  const wholeBytes = Math.min(bytes, capacityBytes - MEMBER_DATA_BYTES)
  const lengthBytes = Math.floor(wholeBytes / blockBytes) * blockBytes
  if (!(lengthBytes >= MIN_UNIT_BYTES)) {
    throw new RangeError(`measureWeights: expected at least ${MIN_UNIT_BYTES} bytes of data to read, got ${wholeBytes}`)
  }
  using buffer = new HostBuffer(dma, lengthBytes)
  const timeOf = async (readBytes: number): Promise<number> => {
    const transfer = { offsetBytes: MEMBER_DATA_BYTES, lengthBytes: readBytes, memoryBytes: 0 }
    const { startNs, endNs } = await store.read([transfer], buffer.memory, signal && { signal })
    return endNs - startNs
  }
  const latencyNs = await timeOf(Math.max(blockBytes, MIN_UNIT_BYTES))
  // A store that takes no time gets the highest rate.
  const restNs = Math.max(1, (await timeOf(lengthBytes)) - latencyNs)
  return { bytesPerSecond: (lengthBytes / restNs) * 1e9, latencyNs }
}
