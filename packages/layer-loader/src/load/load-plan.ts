import type { StoreTransfer } from '../store/store.js'
import type { CheckUnit, StoredExtent, StoredPiece, StoredRun } from './extent.js'

/** Gaps between requested bytes up to this length are read too: they cost less than another command. */
const MERGED_GAP_BYTES = 32 * 1024

export interface LoadPlanOptions {
  /** Block size of the store, in bytes. */
  readonly blockBytes: number
  /** Alignment of pieces in memory, in bytes. A piece with another alignment on the store is moved after reading. */
  readonly alignBytes: number
  /** Selects the check units to verify, which are read completely. */
  readonly check: (unit: CheckUnit) => boolean
}

/** A piece and its place in memory. */
export interface PlacedPiece {
  readonly name: string
  readonly dtype: string
  readonly shape: readonly number[]
  readonly offsetBytes: number
  readonly lengthBytes: number
}

/** A move of bytes inside memory; source and destination may overlap. Moves are executed in order. */
export interface Move {
  readonly fromBytes: number
  readonly toBytes: number
  readonly lengthBytes: number
}

/** A check unit and its place in memory. */
export interface PlacedUnit extends CheckUnit {
  readonly memoryBytes: number
}

/** Reads and memory for an extent, planned before anything is allocated. */
export interface LoadPlan {
  /** Ranges of whole blocks, contiguous in memory. */
  readonly transfers: readonly StoreTransfer[]
  readonly pieces: readonly PlacedPiece[]
  /** Empty if each piece stays where it is read to, as from a packed image. */
  readonly moves: readonly Move[]
  /** In the order of memory. */
  readonly units: readonly PlacedUnit[]
  /** Required memory. */
  readonly memoryBytes: number
  /** Whether selected check units cover every requested byte. */
  readonly checksAll: boolean
  /** Bytes read from the store. `requestedBytes` of them were requested. */
  readonly readBytes: number
  readonly requestedBytes: number
}

/**
 * Plans the reads of an extent: covering blocks, with neighbours merged, in order, so that a piece has the same
 * alignment in memory as on the store.
 * @throws RangeError for an alignment that is not a power of two.
 */
export function planLoad(extent: StoredExtent, options: LoadPlanOptions): LoadPlan {
  const { alignBytes, blockBytes } = options
  if (!Number.isSafeInteger(Math.log2(alignBytes)) || alignBytes < 1) {
    throw new RangeError(`alignBytes: expected a power of two, got ${alignBytes}`)
  }
  const units = extent.checks.filter(options.check)
  const spans = new Spans(blockBytes, units)
  const whole = extent.fullRange === undefined ? undefined : spans.cover(extent.fullRange)
  const found = extent.pieces.map((piece) =>
    whole === undefined ? piece.runs.map((run) => spans.cover(run)) : insideWhole(piece, extent.fullRange!, whole),
  )

  const { pieces, moves, endBytes } = arrange(extent.pieces, found, alignBytes, spans.endBytes)
  const requestedBytes = pieces.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0)
  return {
    transfers: spans.transfers,
    pieces,
    moves,
    units: spans.placedUnits(),
    memoryBytes: endBytes,
    checksAll: extent.pieces.every(({ runs }) => runs.every((run) => spans.checks(run))),
    readBytes: spans.endBytes,
    // Padding of a complete range is part of the request.
    requestedBytes: extent.fullRange?.lengthBytes ?? requestedBytes,
  }
}

function insideWhole({ runs }: StoredPiece, whole: StoredRun, wholeAt: number): number[] {
  return runs.map(({ storeBytes }) => wholeAt + (storeBytes - whole.storeBytes))
}

/**
 * Assigns an aligned place to each piece. A contiguous piece moves up by less than `alignBytes` for each piece before
 * it; the last one moves first, so that none is overwritten. Before that, a fragmented piece is assembled behind all
 * others.
 */
function arrange(
  pieces: readonly StoredPiece[],
  found: readonly (readonly number[])[],
  alignBytes: number,
  readBytes: number,
): { pieces: PlacedPiece[]; moves: Move[]; endBytes: number } {
  const alignUp = (bytes: number) => Math.ceil(bytes / alignBytes) * alignBytes
  const offsets = new Array<number>(pieces.length)
  const shifts: Move[] = []
  let endBytes = 0
  const inMemoryOrder = [...pieces.keys()].filter((index) => isWhole(pieces[index]!.runs, found[index]!))
  inMemoryOrder.sort((a, b) => (found[a]![0] ?? 0) - (found[b]![0] ?? 0))
  for (const index of inMemoryOrder) {
    const { lengthBytes } = pieces[index]!
    const [fromBytes = 0] = found[index]!
    const toBytes = alignUp(Math.max(fromBytes, endBytes))
    offsets[index] = toBytes
    endBytes = toBytes + lengthBytes
    if (toBytes !== fromBytes && lengthBytes > 0) shifts.unshift({ fromBytes, toBytes, lengthBytes })
  }
  endBytes = Math.max(endBytes, readBytes)
  const joins: Move[] = []
  for (const [index, { runs, lengthBytes }] of pieces.entries()) {
    if (offsets[index] !== undefined) continue
    let toBytes = alignUp(endBytes)
    offsets[index] = toBytes
    endBytes = toBytes + lengthBytes
    for (const [run, { lengthBytes }] of runs.entries()) {
      joins.push({ fromBytes: found[index]![run]!, toBytes, lengthBytes })
      toBytes += lengthBytes
    }
  }
  const placed = pieces.map(({ name, dtype, shape, lengthBytes }, index) => {
    return { name, dtype, shape, offsetBytes: offsets[index]!, lengthBytes }
  })
  return { pieces: placed, moves: [...joins, ...shifts], endBytes }
}

/** Returns whether the runs of a piece are contiguous and aligned in memory. */
function isWhole(runs: readonly StoredRun[], places: readonly number[]): boolean {
  let [next = 0] = places
  return runs.every(({ lengthBytes }, index) => {
    const follows = places[index] === next
    next += lengthBytes
    return follows
  })
}

/** Runs of blocks to read, contiguous in memory. */
class Spans {
  readonly transfers: { offsetBytes: number; lengthBytes: number; memoryBytes: number }[] = []
  endBytes = 0
  private readonly blockBytes: number
  private readonly units: readonly CheckUnit[]

  constructor(blockBytes: number, units: readonly CheckUnit[]) {
    this.blockBytes = blockBytes
    this.units = units
  }

  /** Adds a run with all check units that it touches; returns its place in memory. */
  cover({ storeBytes, lengthBytes }: StoredRun): number {
    if (lengthBytes === 0) return this.endBytes
    const { blockBytes } = this
    const endBytes = storeBytes + lengthBytes
    const first = this.units[this.unitAt(storeBytes)]
    const last = this.units[this.unitAt(endBytes - 1)]
    const fromBytes = first !== undefined && first.storeBytes < endBytes ? first.storeBytes : storeBytes
    const toBytes = last !== undefined && last.storeBytes < endBytes ? last.storeBytes + last.lengthBytes : endBytes
    const from = Math.floor(Math.min(fromBytes, storeBytes) / blockBytes) * blockBytes
    const to = Math.ceil(Math.max(toBytes, endBytes) / blockBytes) * blockBytes

    let span = this.transfers.at(-1)
    const spanEnd = span === undefined ? 0 : span.offsetBytes + span.lengthBytes
    const joins = span !== undefined && from >= span.offsetBytes && from <= spanEnd + MERGED_GAP_BYTES
    if (span === undefined || !joins) {
      span = { offsetBytes: from, lengthBytes: to - from, memoryBytes: this.endBytes }
      this.transfers.push(span)
    } else if (to > spanEnd) span.lengthBytes = to - span.offsetBytes
    this.endBytes = span.memoryBytes + span.lengthBytes
    return span.memoryBytes + (storeBytes - span.offsetBytes)
  }

  /** Returns whether check units cover the whole run. */
  checks({ storeBytes, lengthBytes }: StoredRun): boolean {
    const endBytes = storeBytes + lengthBytes
    let checkedTo = storeBytes
    for (let index = this.unitAt(storeBytes); checkedTo < endBytes; index++) {
      const unit = this.units[index]
      if (unit === undefined || unit.storeBytes > checkedTo) return false
      checkedTo = unit.storeBytes + unit.lengthBytes
    }
    return true
  }

  /** Returns the check units that are read completely. One that is read twice is checked in both places. */
  placedUnits(): PlacedUnit[] {
    return this.transfers.flatMap(({ offsetBytes, lengthBytes, memoryBytes }) => {
      const placed: PlacedUnit[] = []
      for (let index = this.unitAt(offsetBytes); index < this.units.length; index++) {
        const unit = this.units[index]!
        if (unit.storeBytes + unit.lengthBytes > offsetBytes + lengthBytes) break
        if (unit.storeBytes < offsetBytes) continue
        placed.push({ ...unit, memoryBytes: memoryBytes + (unit.storeBytes - offsetBytes) })
      }
      return placed
    })
  }

  /** Returns the index of the first unit that ends after a byte. */
  private unitAt(storeBytes: number): number {
    let [low, high] = [0, this.units.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const { storeBytes: start, lengthBytes } = this.units[middle]!
      if (start + lengthBytes > storeBytes) high = middle
      else low = middle + 1
    }
    return low
  }
}
