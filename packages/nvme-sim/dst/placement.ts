import type { Entry } from '../conformance/raw-host/entry.js'
import type { Region } from './region.js'
import type { SglFlaw, SglShape } from './scenario.js'

const PAGE_BYTES = 4096
const DESCRIPTOR_BYTES = 16
/** Offsets of SGL segments in the memory for lists. */
const SEGMENTS_AT = [0, 1024, 2048] as const
/** Offset of the segment for metadata in the memory for lists. */
const METADATA_SEGMENT_AT = 3072
/** Length of the Data Block that makes an SGL longer than the data. */
const EXCESS_BYTES = 16
/** An unmapped address. */
export const NOWHERE = 0x10_0000

/** SGL Identifier: descriptor type in bits 7:4, sub type in 3:0 (Base 2.1 §4.3.2). */
const DATA_BLOCK = 0x00
const BIT_BUCKET = 0x10
const SEGMENT = 0x20
const LAST_SEGMENT = 0x30
const RESERVED_TYPE = 0x70

/** PSDT in CDW0: an SGL for data, with metadata at an address or in an SGL segment. */
const SGL_USED = 0x4000
const SGL_FOR_METADATA_TOO = 0x8000

/** A piece of a command's data, in order, and its offset in the buffer; undefined if it is discarded. */
export interface Piece {
  readonly at: number | undefined
  readonly lengthBytes: number
}

interface Descriptor {
  readonly iova: number
  readonly lengthBytes: number
  readonly id: number
}

/** Returns the pieces of `lengthBytes` of data from `offsetBytes` of a buffer. */
export function piecesOf(offsetBytes: number, lengthBytes: number, sgl?: SglShape, isRead = false): readonly Piece[] {
  if (sgl === undefined) return [{ at: offsetBytes, lengthBytes }]
  const cuts = sgl.cuts.map((cut) => Math.floor((cut * lengthBytes) / 1000))
  const bounds = [...new Set([0, ...cuts, lengthBytes])].sort((a, b) => a - b)
  return bounds.slice(1).map((end, index) => {
    const start = bounds[index]!
    if (isRead && sgl.hasBuckets && index % 2 === 1) return { at: undefined, lengthBytes: end - start }
    const at = offsetBytes + (sgl.isReversed ? lengthBytes - end : start)
    return { at, lengthBytes: end - start }
  })
}

/** Returns a command's data: a view of its buffer or, if they are in pieces, a copy. Discarded bytes are 0. */
export function gather({ bytes }: Region, pieces: readonly Piece[], lengthBytes: number): Uint8Array {
  const [first] = pieces
  if (isWhole(pieces)) return bytes.subarray(first!.at, first!.at! + lengthBytes)
  const data = new Uint8Array(lengthBytes)
  let done = 0
  for (const { at, lengthBytes: length } of pieces) {
    if (at !== undefined) data.set(bytes.subarray(at, at + length), done)
    done += length
  }
  return data
}

/** Passes a zeroed copy of a command's data to `fill`, and stores the result in its buffer. */
export function scatter(
  region: Region,
  pieces: readonly Piece[],
  lengthBytes: number,
  fill: (data: Uint8Array) => void,
): void {
  const isInPlace = isWhole(pieces)
  const data = isInPlace ? gather(region, pieces, lengthBytes).fill(0) : new Uint8Array(lengthBytes)
  fill(data)
  let done = 0
  for (const { at, lengthBytes: length } of pieces) {
    if (at !== undefined) {
      if (!isInPlace) region.bytes.set(data.subarray(done, done + length), at)
      region.accept(at, length)
    }
    done += length
  }
}

/** Returns whether data can be used in place: in one piece, and dword-aligned. */
function isWhole([first, second]: readonly Piece[]): boolean {
  return first?.at !== undefined && first.at % 4 === 0 && second === undefined
}

/** Returns the byte ranges of the data that are discarded. */
export function discardedRanges(pieces: readonly Piece[]): (readonly [from: number, to: number])[] {
  const ranges: (readonly [number, number])[] = []
  let done = 0
  for (const { at, lengthBytes } of pieces) {
    if (at === undefined) ranges.push([done, done + lengthBytes])
    done += lengthBytes
  }
  return ranges
}

/** Writes the segments of an SGL; returns the dwords of the submission queue entry that describe the data. */
export function sglFields(
  data: Region,
  list: Region,
  pieces: readonly Piece[],
  { form, hasBuckets, isLonger }: SglShape,
  isRead: boolean,
  flaw: SglFlaw | undefined,
): Record<number, number> {
  const all = pieces.flatMap(({ at, lengthBytes }): Descriptor[] => {
    if (at === undefined) return [{ iova: 0, lengthBytes, id: BIT_BUCKET }]
    const blocks = dataBlocks(data, at, lengthBytes)
    // A Bit Bucket has no effect on data from the host.
    return hasBuckets && !isRead ? [{ iova: 0, lengthBytes: 8, id: BIT_BUCKET }, ...blocks] : blocks
  })
  const last = all.at(-1)
  if (flaw === 'sgl-short' && last) all[all.length - 1] = { ...last, lengthBytes: last.lengthBytes >> 1 }
  else if (isLonger) all.push(...dataBlocks(data, data.lengthBytes - EXCESS_BYTES, EXCESS_BYTES))
  if (flaw === 'sgl-type') all.push({ iova: data.iova(), lengthBytes: 4, id: RESERVED_TYPE })
  if (flaw === 'sgl-wild') all[0] = { ...all[0]!, iova: NOWHERE, id: DATA_BLOCK }
  // A last segment must contain no segment descriptor; elsewhere, one must be the last descriptor of its segment.
  const more: Descriptor = { iova: list.iova(SEGMENTS_AT[2]), lengthBytes: DESCRIPTOR_BYTES, id: LAST_SEGMENT }
  if (flaw === 'sgl-beyond-last') all.push(more)
  if (flaw === 'sgl-not-last') all.unshift(more)
  const [only] = all
  if (form === 'block' && all.length === 1 && only !== undefined) return descriptorFields(only)
  const put = (index: 0 | 1 | 2, id: number, descriptors: readonly Descriptor[]): Descriptor => {
    const at = SEGMENTS_AT[index]
    descriptors.forEach((each, i) => writeDescriptor(list, at + i * DESCRIPTOR_BYTES, each))
    return { iova: list.iova(at), lengthBytes: descriptors.length * DESCRIPTOR_BYTES, id }
  }
  const half = Math.max(1, all.length >> 1)
  const isChain = form === 'chain' && all.length > 1
  const first = isChain
    ? put(0, SEGMENT, [...all.slice(0, half), put(1, LAST_SEGMENT, all.slice(half))])
    : put(0, LAST_SEGMENT, all)
  list.accept()
  return descriptorFields(first)
}

/** Writes the SGL segment for metadata; returns its address for MPTR. */
export function metadataSegment(list: Region, iova: number, lengthBytes: number): number {
  writeDescriptor(list, METADATA_SEGMENT_AT, { iova, lengthBytes, id: DATA_BLOCK })
  list.accept()
  return list.iova(METADATA_SEGMENT_AT)
}

/** Adds PSDT to the dwords of an entry. */
export function withPsdt(fields: Record<number, number>, describesMetadata: boolean): Required<Pick<Entry, 'cdw'>> {
  return { cdw: { ...fields, 0: describesMetadata ? SGL_FOR_METADATA_TOO : SGL_USED } }
}

/** Returns one Data Block for each range of memory that is contiguous for the device. */
function dataBlocks(region: Region, at: number, lengthBytes: number): Descriptor[] {
  const found: Descriptor[] = []
  for (let done = 0; done < lengthBytes;) {
    const iova = region.iova(at + done)
    const length = Math.min(lengthBytes - done, PAGE_BYTES - (iova % PAGE_BYTES))
    const last = found.at(-1)
    if (last !== undefined && last.iova + last.lengthBytes === iova) {
      found[found.length - 1] = { ...last, lengthBytes: last.lengthBytes + length }
    } else found.push({ iova, lengthBytes: length, id: DATA_BLOCK })
    done += length
  }
  return found
}

function writeDescriptor({ view }: Region, at: number, { iova, lengthBytes, id }: Descriptor): void {
  view.setBigUint64(at, BigInt(iova), true)
  view.setUint32(at + 8, lengthBytes, true)
  view.setUint32(at + 12, id << 24, true)
}

/** Returns SGL1, dwords 6 to 9 of the entry. */
function descriptorFields({ iova, lengthBytes, id }: Descriptor): Record<number, number> {
  return { 6: iova % 2 ** 32, 7: Math.floor(iova / 2 ** 32), 8: lengthBytes, 9: id << 24 }
}
