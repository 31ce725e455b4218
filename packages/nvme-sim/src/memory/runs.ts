import { STATUS, type StatusCode } from '@gpunvme/nvme-spec'
import type { ReachableMemory } from './reachable.js'

/** The address of a run whose bytes are thrown away: no memory has it, and no run goes on from it. */
const NOWHERE = Number.NaN

/** Runs of device addresses, in the order of a command's data. Reused from command to command: no object per page. */
export class Runs {
  count = 0
  readonly iova: number[] = []
  readonly lengthBytes: number[] = []
  /** Bytes of PRP lists or SGL segments that were read to find them. */
  listBytes = 0
  /** Bytes of the data that go nowhere, and do not cross the link. */
  discardedBytes = 0

  clear(): void {
    this.count = 0
    this.listBytes = 0
    this.discardedBytes = 0
  }

  /** Adds a page, to the run before it where it goes on from there: memory that is contiguous is copied in one piece. */
  add(iova: number, lengthBytes: number): void {
    const last = this.count - 1
    if (last >= 0 && this.iova[last]! + this.lengthBytes[last]! === iova) this.lengthBytes[last]! += lengthBytes
    else {
      this.iova[this.count] = iova
      this.lengthBytes[this.count++] = lengthBytes
    }
  }

  /** Adds a run that is thrown away: an SGL Bit Bucket of a destination. */
  discard(lengthBytes: number): void {
    this.discardedBytes += lengthBytes
    this.iova[this.count] = NOWHERE
    this.lengthBytes[this.count++] = lengthBytes
  }

  /** Whether a run is thrown away. */
  isDiscarded(run: number): boolean {
    return Number.isNaN(this.iova[run]!)
  }
}

/** Puts `bytes` where the runs lead, which hold at least as many. A status says that the memory is gone. */
export function scatter(runs: Runs, memory: ReachableMemory, bytes: Uint8Array): StatusCode | undefined {
  for (let run = 0, from = 0; run < runs.count && from < bytes.length; run++) {
    const lengthBytes = Math.min(runs.lengthBytes[run]!, bytes.length - from)
    if (!runs.isDiscarded(run)) {
      const to = memory.bytes(runs.iova[run]!, lengthBytes, 'write')
      if (to === undefined) return STATUS.DATA_TRANSFER_ERROR
      to.set(bytes.subarray(from, from + lengthBytes))
    }
    from += lengthBytes
  }
  return undefined
}

/** Fills `bytes` from where the runs lead, which hold at least as many. A status says that the memory is gone. */
export function gather(runs: Runs, memory: ReachableMemory, bytes: Uint8Array): StatusCode | undefined {
  for (let run = 0, to = 0; run < runs.count && to < bytes.length; run++) {
    const lengthBytes = Math.min(runs.lengthBytes[run]!, bytes.length - to)
    if (!runs.isDiscarded(run)) {
      const from = memory.bytes(runs.iova[run]!, lengthBytes)
      if (from === undefined) return STATUS.DATA_TRANSFER_ERROR
      bytes.set(from, to)
    }
    to += lengthBytes
  }
  return undefined
}
