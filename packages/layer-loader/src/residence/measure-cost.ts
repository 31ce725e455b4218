import type { AbortSignalLike, Clock, CopyEngine, CostModel, DmaMemory } from '@gpunvme/nvme-spec/transport'
import type { BlockStore } from '../store/store.js'
import { humanBytes } from './human-bytes.js'

/** Options of `measureCost`. */
export interface MeasureOptions {
  /** Copy engine to measure too. */
  readonly copies?: CopyEngine
  /** Bytes that are read twice, and copied. Default: 256 MiB, or half of a store shorter than twice that. */
  readonly sampleBytes?: number
  readonly signal?: AbortSignalLike
}

const SAMPLE_BYTES = 256 * 1024 * 1024
const SMALL_BYTES = 4096
const SMALL_READS = 16

/**
 * Measures the cost of reads of a store, and of copies to the GPU, for `planResidence` with `costFrom: 'measured'`.
 * These are current costs: a drive may slow down when it heats up, which `onDrift` of a model reports.
 * @throws errors of reading, copying and allocating; RangeError for a sample that is not a multiple of the block size
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
  // The first read wakes the drive and touches the memory; the second one reads other blocks, which are in no cache.
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
    // The first copy includes the registration of the memory with the GPU, which is done only once.
    await timed(lengthBytes)
    const wholeNs = await timed(lengthBytes)
    const setupNs = Math.min(wholeNs, await timed(Math.min(SMALL_BYTES, lengthBytes)))
    const nsPerByte = (wholeNs - setupNs) / lengthBytes
    return { copyNs: (bytes) => setupNs + bytes * nsPerByte }
  } finally {
    to.free()
  }
}
