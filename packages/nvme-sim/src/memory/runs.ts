import { STATUS, type StatusCode } from '@gpunvme/nvme-spec'
import type { MemoryAccess, ReachableMemory } from './reachable.js'

/** Address of a discarded run: not a memory address, and never merged with another run. */
const NOWHERE = Number.NaN

/**
 * Runs of device addresses in the order of a command's data. Reused for all commands, so that pages allocate no
 * objects.
 */
export class Runs {
  count = 0
  readonly iova: number[] = []
  readonly lengthBytes: number[] = []
  /** Bytes of PRP lists or SGL segments that were read. */
  listBytes = 0
  /** Bytes of data that are discarded and do not cross the link. */
  discardedBytes = 0

  clear(): void {
    this.count = 0
    this.listBytes = 0
    this.discardedBytes = 0
  }

  /** Adds a page, merged with the previous run if adjacent: contiguous memory is copied in one piece. */
  add(iova: number, lengthBytes: number): void {
    const last = this.count - 1
    if (last >= 0 && this.iova[last]! + this.lengthBytes[last]! === iova) this.lengthBytes[last]! += lengthBytes
    else {
      this.iova[this.count] = iova
      this.lengthBytes[this.count++] = lengthBytes
    }
  }

  /** Adds a discarded run: an SGL Bit Bucket of a destination. */
  discard(lengthBytes: number): void {
    this.discardedBytes += lengthBytes
    this.iova[this.count] = NOWHERE
    this.lengthBytes[this.count++] = lengthBytes
  }

  /** Whether a run is discarded. */
  isDiscarded(run: number): boolean {
    return Number.isNaN(this.iova[run]!)
  }
}

/** Processes one piece of a command's data, at offset `at` in the data. */
type Mover<T> = (what: T, piece: Uint8Array, at: number) => void

/**
 * Calls `move` for the first `lengthBytes` bytes of the runs, piece by piece in order. All pieces of a run are looked
 * up before any is accessed. Returns a status if memory is gone. `what` is passed through to avoid a closure.
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
        // It was there when the command began: the host has unmapped it during the command.
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

/** Writes `bytes` to the runs, which must be at least as long. Returns a status if memory is gone. */
export function scatter(runs: Runs, memory: ReachableMemory, bytes: Uint8Array): StatusCode | undefined {
  return moveRuns(runs, memory, 'write', bytes.length, bytes, give)
}

/** Reads `bytes` from the runs, which must be at least as long. Returns a status if memory is gone. */
export function gather(runs: Runs, memory: ReachableMemory, bytes: Uint8Array): StatusCode | undefined {
  return moveRuns(runs, memory, 'read', bytes.length, bytes, take)
}

/** Returns host memory for immediate reading: the bytes themselves, or a copy if they are in several pieces. */
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
