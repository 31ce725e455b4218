import { LoaderError } from '../error.js'
import { quote } from '../formats/quote.js'
import type { StoredExtent, StoredPiece } from './extent.js'

/** Returns the memory that an extent takes, with alignment, complete blocks and check units. */
export type MeasureMemory = (extent: StoredExtent) => number

/**
 * Splits an extent between tensors into parts that each take at most `maxBytes` of memory: as few as their order
 * allows. Parts are extents: they are loaded and verified like any other. A check unit that two parts share is read for
 * both. Padding of a complete layer is omitted.
 * @param all the extents that are split like this one: the error states what suffices for all of them
 * @returns the extent itself if it fits; without its padding if only that exceeds `maxBytes`
 * @throws LoaderError (TENSOR_TOO_LONG) for a tensor that exceeds a part
 */
export function partsOf(
  extent: StoredExtent,
  maxBytes: number,
  memoryOf: MeasureMemory,
  all: () => readonly StoredExtent[] = () => [extent],
): StoredExtent[] {
  const { name: of, pieces, checks } = extent
  if (pieces.length === 0 || memoryOf(extent) <= maxBytes) return [extent]
  const runs: StoredPiece[][] = []
  for (let first = 0; first < pieces.length; first += runs.at(-1)!.length) {
    const fits = (count: number) =>
      memoryOf({ name: of, pieces: pieces.slice(first, first + count), checks }) <= maxBytes
    const count = mostFitting(pieces, first, maxBytes, fits)
    if (count === 0) throw tensorTooLong(extent, pieces[first]!, maxBytes, memoryOf, all())
    runs.push(pieces.slice(first, first + count))
  }
  if (runs.length === 1) return [{ name: of, pieces, checks }]
  return runs.map((pieces, index) => {
    const name = `${of} part ${index + 1} of ${runs.length}`
    return { name, pieces, checks, part: { extent: of, index, count: runs.length } }
  })
}

/** Returns the largest number of pieces that fit together. Memory never decreases with more pieces. */
function mostFitting(
  pieces: readonly StoredPiece[],
  first: number,
  maxBytes: number,
  fits: (count: number) => boolean,
): number {
  // An upper bound from the lengths of the pieces: a search over the whole layer would plan it again for each part.
  let max = 0
  for (let bytes = 0; first + max < pieces.length; max++) {
    bytes += pieces[first + max]!.lengthBytes
    if (bytes > maxBytes) break
  }
  let min = 0
  while (min < max) {
    const middle = Math.ceil((min + max) / 2)
    if (fits(middle)) min = middle
    else max = middle - 1
  }
  return min
}

/** Error of a tensor that is longer than a part may be: parts end between tensors. */
function tensorTooLong(
  extent: StoredExtent,
  tensor: StoredPiece,
  maxBytes: number,
  memoryOf: MeasureMemory,
  all: readonly StoredExtent[],
): LoaderError {
  const { name, pieces, checks } = extent
  const lengthsIn = ({ name, pieces, checks }: StoredExtent) =>
    pieces.map((piece) => memoryOf({ name, pieces: [piece], checks }))
  const longestBytes = all.flatMap(lengthsIn).reduce((max, bytes) => Math.max(max, bytes), 0)
  const fitting = lengthsIn(extent).filter((bytes) => bytes <= maxBytes).length
  const headline = `Cannot split ${quote(name)} into parts of ${maxBytes} bytes: its tensor ${quote(tensor.name)} has ${tensor.lengthBytes}`
  return new LoaderError('ERR_GPUNVME_TENSOR_TOO_LONG', 'infeasible', headline, {
    facts: [
      `with alignment, complete blocks and check units, it takes ${memoryOf({ name, pieces: [tensor], checks })} bytes of memory`,
      `${fitting} of ${pieces.length} tensors fit`,
    ],
    next: `allow parts of ${longestBytes} bytes or more; or, for stacked experts, request them one by one: model.expert(layer, n)`,
  })
}
