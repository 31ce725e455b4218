import type { DmaMemory, DmaSegment } from '../transport/index.js'

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

/** Returns the index of the segment that holds byte `offsetBytes`, which must be inside the memory. */
export function segmentAt(segments: readonly DmaSegment[], offsetBytes: number): number {
  let low = 0
  let high = segments.length - 1
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (segments[middle]!.offsetBytes <= offsetBytes) low = middle
    else high = middle - 1
  }
  return low
}

/**
 * Returns the first segment after `first`, before byte `endBytes`, that shares a page with the one before it: a PRP
 * entry after the first refers to a whole page (Base 2.1 §4.3.1). Returns undefined if PRPs can describe the range.
 * @param pageBytes a power of two.
 */
export function firstBreakInPage(
  segments: readonly DmaSegment[],
  first: number,
  endBytes: number,
  pageBytes: number,
): DmaSegment | undefined {
  for (let index = first + 1; index < segments.length && segments[index]!.offsetBytes < endBytes; index++) {
    const segment = segments[index]!
    const before = segments[index - 1]!
    const end = before.iova + before.lengthBytes
    // Pages are shorter than 4 GiB: the low 32 bits of an address contain the offset in the page.
    if (((segment.iova | end) & (pageBytes - 1)) !== 0 && segment.iova !== end) return segment
  }
  return undefined
}

/**
 * Returns why PRPs cannot describe these bytes of the memory, as expected and actual values; undefined if they can.
 * @param lengthBytes at least 1, inside the memory.
 * @param pageBytes memory page size of CC.MPS.
 */
export function prpProblem(
  { segments }: Pick<DmaMemory, 'segments'>,
  offsetBytes: number,
  lengthBytes: number,
  pageBytes: number,
): string | undefined {
  const beyond = firstBreakInPage(segments, segmentAt(segments, offsetBytes), offsetBytes + lengthBytes, pageBytes)
  if (beyond === undefined) return undefined
  const found = `got one at 0x${beyond.iova.toString(16)}`
  return `segments that meet at ends of ${pageBytes}-byte pages, as PRPs require, ${found}`
}
