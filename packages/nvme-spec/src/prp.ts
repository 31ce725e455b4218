import { prpProblem, segmentAt } from './engine/memory.js'
import { checkInteger, rejectArgument } from './layout/facts.js'
import type { DmaSegment } from './transport/index.js'

/** Memory that PRP entries describe; a DmaMemory is one. */
export interface PrpMemory {
  /** One or more segments, in offset order and without gaps. */
  readonly segments: readonly DmaSegment[]
}

const ENTRY_BYTES = 8

/**
 * Returns the number of memory pages that a transfer touches, which is the number of PRP entries including PRP1 (Base
 * 2.1 §4.3.1). All arguments are in bytes.
 * @throws RangeError for an offset outside the page, an empty transfer, or a page size that CC.MPS cannot encode;
 *   TypeError for arguments that are not numbers.
 */
export function prpEntries(offsetInPage: number, lengthBytes: number, pageBytes: number): number {
  checkPageBytes(pageBytes)
  checkInteger('offset in the page', offsetInPage, 0, pageBytes - 1)
  checkInteger('length of the transfer', lengthBytes, 1)
  return pagesTouched(offsetInPage, lengthBytes, pageBytes)
}

/** Like `prpEntries`, for checked arguments. */
function pagesTouched(offsetInPage: number, lengthBytes: number, pageBytes: number): number {
  return Math.ceil((offsetInPage + lengthBytes) / pageBytes)
}

/**
 * Returns the bytes of PRP list pages needed for a transfer of up to `lengthBytes`, rounded up to whole memory pages,
 * at any offset in a page: whole pages, and 0 if PRP1 and PRP2 suffice. In a list of several pages, the last entry of
 * each page but the last points to the next page (Base 2.1 §4.3.1).
 * @throws RangeError for a length below 0, or a page size that CC.MPS cannot encode; TypeError for arguments that are
 *   not numbers.
 */
export function prpListBytes(lengthBytes: number, pageBytes: number): number {
  checkPageBytes(pageBytes)
  checkInteger('length of the transfer', lengthBytes, 0)
  // An unaligned start may need one page more than an aligned start; PRP1 holds the first entry.
  const inLists = Math.ceil(lengthBytes / pageBytes)
  if (inLists <= 1) return 0
  const perPage = pageBytes / ENTRY_BYTES
  return Math.max(1, Math.ceil((inLists - 1) / (perPage - 1))) * pageBytes
}

/**
 * Returns the longest transfer of whole memory pages, in bytes, at any offset in a page, that `listBytes` of PRP list
 * pages can describe: the inverse of `prpListBytes` (Base 2.1 §4.3.1).
 * @throws RangeError for a length below 0, or a page size that CC.MPS cannot encode; TypeError for arguments that are
 *   not numbers.
 */
export function prpListMaxTransfer(listBytes: number, pageBytes: number): number {
  checkPageBytes(pageBytes)
  checkInteger('length of the lists', listBytes, 0)
  const pages = listBytes / pageBytes
  return pages === 0 ? pageBytes : (pages * (pageBytes / ENTRY_BYTES - 1) + 1) * pageBytes
}

/**
 * Describes `lengthBytes` of `memory` from `offsetBytes` by PRP entries (Base 2.1 §4.3.1). Returns PRP2, which is 0 if
 * the transfer is inside one page, and writes the PRP list, if needed, into `lists` at byte `listOffset`. PRP1 is the
 * device address of byte `offsetBytes`. Writes nothing if it throws.
 *
 * @param lists pages for the list: page-aligned for the device, `prpListBytes(lengthBytes, pageBytes)` of them.
 * @throws RangeError for a page size that CC.MPS cannot encode; for a transfer that is empty, not dword-aligned or not
 *   inside the memory; for segments of either memory that meet inside a page, since the controller would transfer other
 *   bytes; and for a list that is not page-aligned.
 */
export function buildPrps(
  memory: PrpMemory,
  offsetBytes: number,
  lengthBytes: number,
  pageBytes: number,
  lists: PrpMemory & { readonly view: DataView },
  listOffset: number,
): number {
  checkPageBytes(pageBytes)
  if (!(lengthBytes > 0)) throw new RangeError(`PRP: expected a transfer of at least 1 byte, got ${lengthBytes}`)
  checkPages('PRP', memory, offsetBytes, lengthBytes, pageBytes)
  const { segments } = memory
  let index = segmentAt(segments, offsetBytes)
  let segment = segments[index]!
  const first = segment.iova + offsetBytes - segment.offsetBytes
  const offsetInPage = first % pageBytes
  if (offsetInPage % 4 !== 0) {
    throw new RangeError(`PRP1: expected a dword-aligned address, got 0x${first.toString(16)} (Base 2.1 §4.3.1)`)
  }
  let remaining = pagesTouched(offsetInPage, lengthBytes, pageBytes) - 1
  if (remaining === 0) return 0
  let at = offsetBytes + pageBytes - offsetInPage
  if (remaining === 1) return addressOf(memory, at)

  const { view } = lists
  const bytes = listLength(remaining, listOffset % pageBytes, pageBytes)
  checkPages('PRP list', lists, listOffset, bytes, pageBytes)
  const list = addressOf(lists, listOffset)
  // The end of a list page is found by its offset, so offset and address must have the same page boundaries.
  if (list % ENTRY_BYTES !== 0 || list % pageBytes !== listOffset % pageBytes) {
    throw new RangeError(
      `PRP list: expected pages aligned to ${pageBytes} bytes, got 0x${list.toString(16)} at offset ${listOffset} (Base 2.1 §4.3.1)`,
    )
  }
  let slot = listOffset
  let iova = first + at - offsetBytes
  let endOfSegment = segment.offsetBytes + segment.lengthBytes
  for (; remaining > 0; remaining--, at += pageBytes, iova += pageBytes) {
    if ((slot + ENTRY_BYTES) % pageBytes === 0 && remaining > 1) {
      writeEntry(view, slot, addressOf(lists, slot + ENTRY_BYTES))
      slot += ENTRY_BYTES
    }
    while (at >= endOfSegment) {
      segment = segments[++index]!
      iova = segment.iova + at - segment.offsetBytes
      endOfSegment = segment.offsetBytes + segment.lengthBytes
    }
    writeEntry(view, slot, iova)
    slot += ENTRY_BYTES
  }
  return list
}

/** Returns the length in bytes of a list that begins at an offset in a page, with the pointers to its next pages. */
function listLength(entries: number, offsetInPage: number, pageBytes: number): number {
  const perPage = pageBytes / ENTRY_BYTES
  const beyondFirst = entries - (pageBytes - offsetInPage) / ENTRY_BYTES
  const pointers = beyondFirst <= 0 ? 0 : Math.ceil(beyondFirst / (perPage - 1))
  return (entries + pointers) * ENTRY_BYTES
}

/** @throws RangeError for bytes outside the memory, and for segments in the range that meet inside a page. */
function checkPages(
  name: string,
  memory: PrpMemory,
  offsetBytes: number,
  lengthBytes: number,
  pageBytes: number,
): void {
  const last = memory.segments.at(-1)!
  const endBytes = offsetBytes + lengthBytes
  const heldBytes = last.offsetBytes + last.lengthBytes
  if (!(offsetBytes >= 0 && endBytes <= heldBytes)) {
    throw new RangeError(
      `${name}: expected memory that holds bytes ${offsetBytes} to ${endBytes}, got ${heldBytes} bytes`,
    )
  }
  const problem = prpProblem(memory, offsetBytes, lengthBytes, pageBytes)
  if (problem !== undefined) throw new RangeError(`${name}: expected ${problem} (Base 2.1 §4.3.1)`)
}

function addressOf({ segments }: PrpMemory, offsetBytes: number): number {
  const segment = segments[segmentAt(segments, offsetBytes)]!
  return segment.iova + offsetBytes - segment.offsetBytes
}

/** CC.MPS has four bits; the page size is 2 ^ (12 + MPS) bytes. */
function checkPageBytes(pageBytes: number): void {
  if (!Number.isInteger(pageBytes) || pageBytes < 4096 || pageBytes > 2 ** 27 || (pageBytes & (pageBytes - 1)) !== 0)
    rejectArgument('memory page size', 'a power of two from 4096 to 134217728', pageBytes)
}

function writeEntry(view: DataView, at: number, iova: number): void {
  view.setUint32(at, iova >>> 0, true)
  view.setUint32(at + 4, (iova / 0x1_0000_0000) >>> 0, true)
}
