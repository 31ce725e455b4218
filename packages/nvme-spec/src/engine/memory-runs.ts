import type { DmaMemory } from '../transport.js'
import { segmentAt } from './segments.js'

/** Shift for memory in one segment: every byte is in run 0. */
const ONE_RUN_SHIFT = 63
/** No offset is a multiple of a larger power of two, since byte offsets are below 2^53. */
const LARGEST_SHIFT = 53

/**
 * Device addresses of memory in a form for native code and kernels: runs of equal length, each inside one segment. Byte
 * `offset` is at `iovas[offset >> shift] + (offset & (2^shift - 1))`.
 */
export interface MemoryRuns {
  /** Device address of each run's first byte. */
  readonly iovas: BigUint64Array
  /** A run is 2^shift bytes long; the last may be shorter. 63 for a single run. */
  readonly shift: number
}

/**
 * Divides a memory into the longest possible runs.
 * @param pageBytes memory page size of CC.MPS, a power of two.
 * @throws RangeError if runs would be shorter than a page, because a segment does not begin at a page boundary counted
 *   from the start of the memory.
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
