import { STATUS, type StatusCode } from '@gpunvme/nvme-spec'
import type { ReachableMemory } from './reachable.js'

/** Runs of device addresses, in the order of a command's data. Reused from command to command: no object per page. */
export class Runs {
  count = 0
  readonly iova: number[] = []
  readonly lengthBytes: number[] = []
  /** Bytes of PRP lists or SGL segments that were read to find them. */
  listBytes = 0

  clear(): void {
    this.count = 0
    this.listBytes = 0
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
}

/** Puts `bytes` where the runs lead, which hold at least as many. A status says that the memory is gone. */
export function scatter(runs: Runs, memory: ReachableMemory, bytes: Uint8Array): StatusCode | undefined {
  for (let run = 0, from = 0; run < runs.count && from < bytes.length; run++) {
    const to = memory.bytes(runs.iova[run]!, Math.min(runs.lengthBytes[run]!, bytes.length - from))
    if (to === undefined) return STATUS.DATA_TRANSFER_ERROR
    to.set(bytes.subarray(from, from + to.length))
    from += to.length
  }
  return undefined
}

/** Fills `bytes` from where the runs lead, which hold at least as many. A status says that the memory is gone. */
export function gather(runs: Runs, memory: ReachableMemory, bytes: Uint8Array): StatusCode | undefined {
  for (let run = 0, to = 0; run < runs.count && to < bytes.length; run++) {
    const from = memory.bytes(runs.iova[run]!, Math.min(runs.lengthBytes[run]!, bytes.length - to))
    if (from === undefined) return STATUS.DATA_TRANSFER_ERROR
    bytes.set(from, to)
    to += from.length
  }
  return undefined
}
