import type { AbortSignalLike, ChecksummedMemory, Checksummer } from '@gpunvme/nvme-spec/transport'
import type { PlacedUnit } from './load-plan.js'

/** Bytes of memory, and their CRC-32/ISO-HDLC as it should be. */
export type MemoryUnit = Pick<PlacedUnit, 'memoryBytes' | 'lengthBytes' | 'crc32'>

/** A unit whose bytes have another CRC-32. */
export interface Mismatch<U extends MemoryUnit> {
  readonly unit: U
  readonly got: number
}

/** Where the bytes are, and what computes their checksums. */
export interface CheckTarget {
  readonly memory: ChecksummedMemory
  readonly checksummer: Checksummer
  readonly signal?: AbortSignalLike | undefined
}

/**
 * Compares bytes in memory with their known checksums, in ascending order.
 * @returns the first unit that does not match; undefined if all do
 * @throws what the checksummer throws
 */
export async function firstMismatch<U extends MemoryUnit>(
  units: readonly U[],
  { memory, checksummer, signal }: CheckTarget,
): Promise<Mismatch<U> | undefined> {
  for (const run of chunkRuns(units)) {
    const [first, last] = [run[0]!, run.at(-1)!]
    const sums = new Uint32Array(run.length)
    const lengthBytes = last.memoryBytes + last.lengthBytes - first.memoryBytes
    const options = signal && { signal }
    await checksummer.checksum(memory, first.memoryBytes, lengthBytes, first.lengthBytes, sums, options)
    for (const [index, unit] of run.entries()) {
      const got = sums[index]!
      if (got !== unit.crc32) return { unit, got }
    }
  }
  return undefined
}

/** Units that follow each other in memory and are of one length, the last one excepted: one call for a checksummer. */
function chunkRuns<U extends MemoryUnit>(units: readonly U[]): U[][] {
  const runs: U[][] = []
  let chunkBytes = 0
  let nextBytes = -1
  for (const unit of units) {
    const { memoryBytes, lengthBytes } = unit
    if (memoryBytes === nextBytes && lengthBytes <= chunkBytes) runs.at(-1)!.push(unit)
    else {
      runs.push([unit])
      chunkBytes = lengthBytes
    }
    // After a shorter one a run is at its end.
    nextBytes = lengthBytes < chunkBytes ? -1 : memoryBytes + lengthBytes
  }
  return runs
}
