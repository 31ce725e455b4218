import type { AbortSignalLike, Clock, CopyEngine, CostModel, DmaMemory } from '@gpunvme/nvme-spec/transport'
import type { BlockStore } from '../store/store.js'
import { humanBytes } from './human-bytes.js'

/** How costs are measured. */
export interface MeasureOptions {
  /** Measured too where it is given. */
  readonly copies?: CopyEngine
  /** How much is read, twice, and copied; 256 MiB when not given, or half of a store that is shorter than twice that. */
  readonly sampleBytes?: number
  readonly signal?: AbortSignalLike
}

const SAMPLE_BYTES = 256 * 1024 * 1024
const SMALL_BYTES = 4096
const SMALL_READS = 16

/**
 * Measures what reads of a store cost, and copies to the GPU, for `planResidence` with `costFrom: 'measured'`. It is what
 * they cost now: of a drive that gets hot later this knows nothing, and a model with `onDrift` tells of it.
 * @throws what reading, copying and allocating throw; RangeError for a sample that is no whole number of blocks
 */
export async function measureCost(store: BlockStore, options: MeasureOptions = {}): Promise<CostModel> {
  const { blockBytes, capacityBytes } = store
  const half = Math.floor(capacityBytes / 2 / blockBytes) * blockBytes
  const { sampleBytes = Math.min(SAMPLE_BYTES, half), copies } = options
  if (!Number.isSafeInteger(sampleBytes) || sampleBytes < blockBytes || sampleBytes % blockBytes || sampleBytes > half)
    throw new RangeError(
      `sampleBytes: expected whole blocks of ${blockBytes} bytes, at most ${humanBytes(half)}, got ${sampleBytes}`,
    )
  const memory = store.dma.alloc(sampleBytes)
  try {
    const read = await measureReads(store, memory, options)
    return { ...read, ...(copies && (await measureCopies(copies, memory, store.clock))) }
  } finally {
    memory.free()
  }
}

async function measureReads(
  store: BlockStore,
  memory: DmaMemory,
  { signal }: MeasureOptions,
): Promise<Pick<CostModel, 'readNs'>> {
  const limits = signal ? { signal } : {}
  const { lengthBytes } = memory
  const timed = async (offsetBytes: number, bytes: number) => {
    const { startNs, endNs } = await store.read([{ offsetBytes, lengthBytes: bytes, memoryBytes: 0 }], memory, limits)
    return endNs - startNs
  }
  // The first wakes the drive and touches the memory; the second reads other blocks, which no cache has.
  await timed(0, lengthBytes)
  const nsPerByte = (await timed(lengthBytes, lengthBytes)) / lengthBytes
  const smallBytes = Math.min(lengthBytes, Math.ceil(SMALL_BYTES / store.blockBytes) * store.blockBytes)
  let smallNs = 0
  for (let i = 0; i < SMALL_READS; i++) {
    const block = Math.floor((i * (lengthBytes - smallBytes)) / SMALL_READS / store.blockBytes)
    smallNs += (await timed(block * store.blockBytes, smallBytes)) / SMALL_READS
  }
  const latencyNs = Math.max(0, smallNs - smallBytes * nsPerByte)
  return {
    readNs: (bytes, queueDepth) => Math.max(bytes * nsPerByte, (latencyNs + bytes * nsPerByte) / queueDepth),
  }
}

async function measureCopies(copies: CopyEngine, from: DmaMemory, clock: Clock): Promise<Pick<CostModel, 'copyNs'>> {
  const { lengthBytes } = from
  const to = copies.alloc(lengthBytes)
  const timed = async (bytes: number) => {
    const startNs = clock.now()
    await copies.copy(from, 0, to, 0, bytes)
    return clock.now() - startNs
  }
  try {
    // The first makes the GPU known to the memory: that is done once, and not for every copy.
    await timed(lengthBytes)
    const wholeNs = await timed(lengthBytes)
    const setupNs = Math.min(wholeNs, await timed(Math.min(SMALL_BYTES, lengthBytes)))
    const nsPerByte = (wholeNs - setupNs) / lengthBytes
    return { copyNs: (bytes) => setupNs + bytes * nsPerByte }
  } finally {
    to.free()
  }
}
