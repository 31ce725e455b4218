import type { AbortSignalLike, Checksummer, DmaMemory } from '@gpunvme/nvme-spec/transport'
import type { BlockStore } from '../store/store.js'
import type { StoredExtent } from './extent.js'
import type { PlacedUnit } from './load-plan.js'
import { VerificationError } from './verification-error.js'

/** What is checked, and by what. */
export interface CheckTarget {
  readonly model: { readonly name: string; readonly store: BlockStore }
  readonly extent: StoredExtent
  readonly memory: DmaMemory
  readonly checksummer: Checksummer
  readonly signal?: AbortSignalLike
}

/**
 * Compares the checksums of what has been read with those that are known.
 * @throws VerificationError for the first unit that does not match; what the checksummer throws.
 */
export async function checkUnits(units: readonly PlacedUnit[], target: CheckTarget): Promise<void> {
  const { model, extent, memory, checksummer, signal } = target
  for (const run of chunkRuns(units)) {
    const [first, last] = [run[0]!, run.at(-1)!]
    const got = new Uint32Array(run.length)
    const lengthBytes = last.memoryBytes + last.lengthBytes - first.memoryBytes
    const options = signal && { signal }
    await checksummer.checksum(memory, first.memoryBytes, lengthBytes, first.lengthBytes, got, options)
    for (const [index, unit] of run.entries()) {
      if (got[index] !== unit.crc32) throw new VerificationError(model, extent, unit, got[index]!)
    }
  }
}

/** Units that follow each other in memory and are of one length, the last one excepted: one call for a checksummer. */
function chunkRuns(units: readonly PlacedUnit[]): PlacedUnit[][] {
  const runs: PlacedUnit[][] = []
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
