import { STATUS, type StatusCode } from '@gpunvme/nvme-spec'
import type { MemoryAccess, ReachableMemory } from './reachable.js'

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

/** What is done with one piece of a command's data, which stands `at` bytes into it. */
type Mover<T> = (what: T, piece: Uint8Array, at: number) => void

/**
 * Has the first `lengthBytes` bytes moved to which the runs lead, piece by piece and in order: a run that crosses from one
 * piece of the host's memory into another is all found before any of it is touched. A status says that memory is gone.
 * `what` goes to `move`, so that it needs no closure.
 */
export function moveRuns<T>(
  runs: Runs,
  memory: ReachableMemory,
  access: MemoryAccess,
  lengthBytes: number,
  what: T,
  move: Mover<T>,
): StatusCode | undefined {
  for (let run = 0, at = 0; run < runs.count && at < lengthBytes; run++) {
    const runBytes = Math.min(runs.lengthBytes[run]!, lengthBytes - at)
    if (!runs.isDiscarded(run)) {
      const iova = runs.iova[run]!
      const whole = memory.bytes(iova, runBytes, access)
      if (whole !== undefined) move(what, whole, at)
      else {
        const pieces = memory.pieces(iova, runBytes, access)
        // It was there when the command began: the host has taken it away under a command in flight.
        if (pieces === undefined) return STATUS.DATA_TRANSFER_ERROR
        let from = at
        for (const piece of pieces) {
          move(what, piece, from)
          from += piece.length
        }
      }
    }
    at += runBytes
  }
  return undefined
}

/** Puts `bytes` where the runs lead, which hold at least as many. A status says that the memory is gone. */
export function scatter(runs: Runs, memory: ReachableMemory, bytes: Uint8Array): StatusCode | undefined {
  return moveRuns(runs, memory, 'write', bytes.length, bytes, give)
}

/** Fills `bytes` from where the runs lead, which hold at least as many. A status says that the memory is gone. */
export function gather(runs: Runs, memory: ReachableMemory, bytes: Uint8Array): StatusCode | undefined {
  return moveRuns(runs, memory, 'read', bytes.length, bytes, take)
}

/** What the host has written there, to be read now: the bytes themselves, or a copy where they are in several pieces. */
export function contentsOf(memory: ReachableMemory, iova: number, lengthBytes: number): Uint8Array | undefined {
  const whole = memory.bytes(iova, lengthBytes)
  if (whole !== undefined) return whole
  const pieces = memory.pieces(iova, lengthBytes)
  if (pieces === undefined) return undefined
  const copy = new Uint8Array(lengthBytes)
  let at = 0
  for (const piece of pieces) {
    copy.set(piece, at)
    at += piece.length
  }
  return copy
}

function give(bytes: Uint8Array, piece: Uint8Array, at: number): void {
  piece.set(bytes.subarray(at, at + piece.length))
}

function take(bytes: Uint8Array, piece: Uint8Array, at: number): void {
  bytes.set(piece, at)
}
