import { asStore, type Readable } from '../store/as-store.js'
import type { BlockStore } from '../store/store.js'
import { MIN_UNIT_BYTES, MEMBER_DATA_BYTES } from './format.js'

export interface MeasureWeightsOptions {
  /** How much is read of each; 16 MiB when not given, less of one that is smaller. */
  readonly bytes?: number
  readonly signal?: AbortSignal
}

/** How fast a store is, by its own clock. */
export interface Speed {
  readonly bytesPerSecond: number
  /** From the submission of a short read to its end. */
  readonly latencyNs: number
}

const DEFAULT_BYTES = 16 * 1024 * 1024

/**
 * What each member delivers, in bytes a second by its own clock: read all at once, as a set reads them, so that what they
 * share - a bus, a switch - counts. For `createStripe({ weights })`, and for `openSet({ rates })` of a mirror.
 * @throws RangeError for members without room for data; what a member's `read` throws.
 */
export async function measureWeights(
  members: readonly Readable[],
  options: MeasureWeightsOptions = {},
): Promise<number[]> {
  const speeds = await Promise.all(members.map((member) => measure(asStore(member), options)))
  return speeds.map(({ bytesPerSecond }) => bytesPerSecond)
}

/** One short read, then a long one. @throws as `measureWeights`. */
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
  const memory = dma.alloc(lengthBytes)
  const timeOf = async (readBytes: number): Promise<number> => {
    const transfer = { offsetBytes: MEMBER_DATA_BYTES, lengthBytes: readBytes, memoryBytes: 0 }
    const { startNs, endNs } = await store.read([transfer], memory, signal && { signal })
    return endNs - startNs
  }
  try {
    const latencyNs = await timeOf(Math.max(blockBytes, MIN_UNIT_BYTES))
    // What takes no time at all is as fast as anything can be told to be.
    const restNs = Math.max(1, (await timeOf(lengthBytes)) - latencyNs)
    return { bytesPerSecond: (lengthBytes / restNs) * 1e9, latencyNs }
  } finally {
    memory.free()
  }
}
