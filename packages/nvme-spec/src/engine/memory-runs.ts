import type { DmaMemory } from '../transport.js'
import { segmentAt } from './segments.js'

/** Of memory in one segment: no byte of it is in a second run. */
const ONE_RUN_SHIFT = 63
/** No offset has a power of two above this one as its divisor, as long as numbers count bytes. */
const LARGEST_SHIFT = 53

/**
 * Where memory lies for the device, as code without objects takes it: cut into runs of equal length, of which each lies
 * within one segment. Byte `offset` is at `iovas[offset >> shift] + (offset & (2^shift - 1))`.
 */
export interface MemoryRuns {
  /** The device's address of each run's first byte. */
  readonly iovas: BigUint64Array
  /** A run's length is 2^shift bytes; the last may be shorter. 63 where one run is all there is. */
  readonly shift: number
}

/**
 * The longest runs that a memory can be cut into.
 * @param pageBytes the memory page of CC.MPS, a power of two.
 * @throws RangeError where runs would have to be shorter than a page, because a segment begins inside one counted from
 *   the start of the memory.
 */
export function runsOf({ segments, lengthBytes }: DmaMemory, pageBytes: number): MemoryRuns {
  if (segments.length === 1) return { iovas: BigUint64Array.of(BigInt(segments[0]!.iova)), shift: ONE_RUN_SHIFT }
  let shift = LARGEST_SHIFT
  for (const { offsetBytes } of segments) {
    while (offsetBytes % 2 ** shift !== 0) shift--
    if (2 ** shift < pageBytes) {
      throw new RangeError(
        `memory: expected segments that begin at multiples of ${pageBytes} bytes, got one at byte ${offsetBytes}`,
      )
    }
  }
  const runBytes = 2 ** shift
  const iovas = new BigUint64Array(Math.ceil(lengthBytes / runBytes))
  for (let run = 0; run < iovas.length; run++) {
    const segment = segments[segmentAt(segments, run * runBytes)]!
    iovas[run] = BigInt(segment.iova + run * runBytes - segment.offsetBytes)
  }
  return { iovas, shift }
}
