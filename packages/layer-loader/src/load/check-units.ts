import type { AbortSignalLike, ChecksummedMemory, Checksummer } from '@gpunvme/nvme-spec/transport'
import type { PlacedUnit } from './load-plan.js'

/** A range of memory and its expected CRC-32/ISO-HDLC. */
export type MemoryUnit = Pick<PlacedUnit, 'memoryBytes' | 'lengthBytes' | 'crc32'>

/** A unit whose CRC-32 does not match. */
export interface Mismatch<U extends MemoryUnit> {
  readonly unit: U
  readonly got: number
}

/** Memory to check, and the checksummer. */
export interface CheckTarget {
  readonly memory: ChecksummedMemory
  readonly checksummer: Checksummer
  readonly signal?: AbortSignalLike | undefined
}

/**
 * Compares memory with its expected checksums, in ascending order.
 * @returns the first unit that does not match; undefined if all match
 * @throws errors of the checksummer
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

/** Groups units that are contiguous in memory and equally long except for the last one: one checksummer call each. */
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
    // A shorter unit ends its run.
    nextBytes = lengthBytes < chunkBytes ? -1 : memoryBytes + lengthBytes
  }
  return runs
}
