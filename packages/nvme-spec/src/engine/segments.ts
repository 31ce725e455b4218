import type { DmaMemory, DmaSegment } from '../transport.js'

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
