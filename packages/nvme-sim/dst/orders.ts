import type { Entry } from '../conformance/raw-host/entry.js'
import type { BufferSlot } from './buffers.js'
import type { Medium, Range } from './medium.js'
import { ANY, fillBlock, METADATA_WORD, UNREADABLE, writtenContent, ZEROES, type Content } from './pattern.js'
import { metadataSegment, NOWHERE, piecesOf, scatter, sglFields, withPsdt, type Piece } from './placement.js'
import { MAX_DATA_BYTES, type IoOperation, type IoOrder, type SglFlaw } from './scenario.js'
import { transferBytes, type Space } from './spaces.js'

// Offsets, bits and opcodes are literals from the specification's figures: the campaign shares no declaration with the
// code that it tests.

const OPCODES: Readonly<Record<IoOperation, number>> = {
  read: 0x02,
  write: 0x01,
  'write-uncorrectable': 0x04,
  compare: 0x05,
  'write-zeroes': 0x08,
  deallocate: 0x09,
  verify: 0x0c,
  copy: 0x19,
  flush: 0,
}

/** The bits of ONCS for optional commands (Base 2.1 Figure 312). */
const OPTIONAL: Readonly<Partial<Record<IoOperation, number>>> = {
  compare: 0x01,
  'write-uncorrectable': 0x02,
  deallocate: 0x04,
  'write-zeroes': 0x08,
  verify: 0x80,
  copy: 0x100,
}

/** Dataset Management: one range, and the attribute Deallocate in CDW11 (NVM 1.2 §3.3.3). */
const RANGE_BYTES = 16
const ATTRIBUTE_DEALLOCATE = 1 << 2
/** Source Range Entry of Copy Descriptor Format 0h (NVM 1.2 §3.3.2). */
const SOURCE_BYTES = 32
/** FUA in CDW12. */
const FORCE_UNIT_ACCESS = 2 ** 30

/** Statuses of flawed data pointers (Base 2.1 §4.2.3.1). */
const POINTER_STATUS: Readonly<Partial<Record<NonNullable<IoOrder['flaw']>, string>>> = {
  'prp-offset': '0/13',
  'prp-wild': '0/04',
  'sgl-beyond-last': '0/0d',
  'sgl-not-last': '0/0e',
  'sgl-short': '0/0f',
  'sgl-type': '0/11',
  'sgl-wild': '0/04',
}

/** Reduces the blocks of an order so that, in the current format of its namespace, its data fit into a buffer. */
export function fitOrder(order: IoOrder, space: Space): IoOrder {
  const max = Math.floor(MAX_DATA_BYTES / transferBytes(space))
  const movesBlocks = ['read', 'write', 'compare'].includes(order.operation)
  return { ...order, nsid: space.nsid, blocks: movesBlocks ? Math.min(order.blocks, max) : order.blocks }
}

/** Returns the number of data bytes that a command transfers, without separate metadata. */
export function dataBytesOf({ operation, blocks, sources }: IoOrder, space: Space): number {
  if (operation === 'deallocate') return Math.min(blocks, 2) * RANGE_BYTES
  if (operation === 'copy') return sources!.length * SOURCE_BYTES
  return operation === 'read' || operation === 'write' || operation === 'compare' ? blocks * transferBytes(space) : 0
}

/** Returns the number of metadata bytes that a command transfers in a separate buffer. */
export function metadataBytesOf({ operation, blocks }: IoOrder, { metadataBytes, isExtended }: Space): number {
  const movesBlocks = operation === 'read' || operation === 'write' || operation === 'compare'
  return movesBlocks && !isExtended ? blocks * metadataBytes : 0
}

/** Returns the pieces of an order's data in its buffer. */
export function placementOf(order: IoOrder, dataBytes: number): readonly Piece[] {
  return piecesOf(order.offsetBytes, dataBytes, order.sgl, order.operation === 'read')
}

/**
 * Returns the statuses that an order may end with in the current state of its namespace (Base 2.1 §4.2.3, NVM 1.2
 * §3.3). @param optionalCommands ONCS of Identify Controller.
 */
export function statusesOf(
  { operation, flaw, slba, blocks, sources = [] }: IoOrder,
  space: Space | undefined,
  optionalCommands: number,
): readonly string[] {
  const bit = OPTIONAL[operation]
  if ((bit !== undefined && (optionalCommands & bit) === 0) || flaw === 'opcode') return ['0/01']
  if (flaw === 'nsid') return ['0/0b']
  // An inactive NSID is an invalid field (Base 2.1 §3.2.1.2).
  if (space?.isAttached !== true) return ['0/02']
  if (operation === 'flush') return ['0/00']
  const misled = flaw && POINTER_STATUS[flaw]
  const takesList = operation === 'deallocate' || operation === 'copy'
  // The ranges of these commands are in their data, so a wrong data pointer is detected first.
  if (takesList && misled) return [misled]
  const ranges = operation === 'copy' ? [{ slba, blocks }, ...sources] : [{ slba, blocks }]
  if (flaw === 'lba' || ranges.some((range) => range.slba + range.blocks > space.blocks)) return ['0/80']
  const hasData = operation === 'read' || operation === 'write' || operation === 'compare'
  if (hasData && misled) return [misled]
  const ends = operation === 'compare' ? ['0/00', '2/85'] : ['0/00']
  // Unrecovered Read Error, for blocks that Write Uncorrectable has marked.
  const reads = ['read', 'compare', 'verify', 'copy'].includes(operation)
  return reads ? [...ends, '2/81'] : ends
}

/** Returns the blocks that an order changes if it is executed. */
export function changesOf(order: IoOrder | undefined): Range | undefined {
  if (order === undefined) return undefined
  const { operation, flaw } = order
  if (['write', 'deallocate', 'copy'].includes(operation)) return flaw === undefined ? order : undefined
  // A command without data ignores a wrong data pointer.
  const isAccepted = flaw === undefined || POINTER_STATUS[flaw] !== undefined
  const isChange = operation === 'write-zeroes' || operation === 'write-uncorrectable'
  return isChange && isAccepted ? order : undefined
}

/** Records the contents that an order may write from now on. */
export function beginChange(medium: Medium, range: Range, by: object, order: IoOrder): void {
  const { operation, salt, nsid, slba, sources = [] } = order
  if (operation === 'copy') {
    const lbas = sources.flatMap((source) => Array.from({ length: source.blocks }, (_, i) => source.slba + i))
    medium.begin(range, by, (index) => ({ nsid, lba: lbas[index]! }))
  } else if (operation === 'write') medium.begin(range, by, (index) => writtenContent(salt, nsid, slba + index))
  else medium.begin(range, by, () => (operation === 'write-uncorrectable' ? UNREADABLE : ZEROES))
}

/**
 * Fills the buffer of an order with the data that the controller fetches. Returns the content of each block that it
 * writes or compares with.
 */
export function fillData(
  slot: BufferSlot,
  order: IoOrder,
  space: Space,
  pieces: readonly Piece[],
  medium: Medium,
  began: number,
): readonly Content[] {
  const { operation, blocks, slba, salt, nsid } = order
  const contents: Content[] = []
  if (operation === 'read') return contents
  const metadata = new Uint8Array(metadataBytesOf(order, space))
  scatter(slot.data, pieces, dataBytesOf(order, space), (data) => {
    if (operation === 'deallocate') fillRanges(data, order, space)
    else if (operation === 'copy') fillSources(data, order)
    else for (let index = 0; index < blocks; index++) fillOne(data, index)
  })
  const whole = [{ at: 0, lengthBytes: metadata.length }]
  if (metadata.length > 0) scatter(slot.metadata, whole, metadata.length, (bytes) => bytes.set(metadata))
  return contents

  function fillOne(data: Uint8Array, index: number): void {
    const lba = slba + index
    const expected = () => medium.possibleContents(nsid, lba, began).find((each) => each !== ANY && each !== UNREADABLE)
    const content = salt ? writtenContent(salt, nsid, lba) : (expected() ?? ZEROES)
    contents.push(content)
    fillBlock(dataOf(data, index, space), content)
    fillBlock(metadataOf(data, metadata, index, space), content, METADATA_WORD)
  }
}

/** Returns the data of a block in a command's data. */
export function dataOf(data: Uint8Array, index: number, space: Space): Uint8Array {
  const at = index * transferBytes(space)
  return data.subarray(at, at + space.blockBytes)
}

/** Returns the metadata of a block, which follow its data or come from a separate buffer. */
export function metadataOf(data: Uint8Array, metadata: Uint8Array, index: number, space: Space): Uint8Array {
  const { metadataBytes, isExtended, blockBytes } = space
  if (!isExtended) return metadata.subarray(index * metadataBytes, (index + 1) * metadataBytes)
  const at = index * transferBytes(space) + blockBytes
  return data.subarray(at, at + metadataBytes)
}

/** Returns the submission queue entry of an order. @param fuse FUSE in CDW0: 1 is the first command, 2 the second. */
export function entryOf(
  order: IoOrder,
  space: Space,
  slot: BufferSlot | undefined,
  pieces: readonly Piece[],
  fuse = 0,
): Entry {
  const { operation, flaw, sgl } = order
  const { cdw, ...pointer } = pointerOf(order, space, slot, pieces)
  return {
    opcode: flaw === 'opcode' ? 0x7f : OPCODES[operation],
    nsid: flaw === 'nsid' ? 0x1234 : order.nsid,
    ...pointer,
    cdw: { ...commandDwords(order, space), ...cdw, 0: (fuse << 8) | ((sgl && cdw?.[0]) ?? 0) },
  }
}

function pointerOf(
  order: IoOrder,
  space: Space,
  slot: BufferSlot | undefined,
  pieces: readonly Piece[],
): Pick<Entry, 'prp1' | 'prp2' | 'mptr' | 'cdw'> {
  const { flaw, sgl, offsetBytes } = order
  if (flaw === 'prp-wild') return { prp1: NOWHERE, prp2: NOWHERE }
  if (slot === undefined) return flaw === 'prp-offset' ? { prp1: 2 } : {}
  const metadataBytes = metadataBytesOf(order, space)
  const address = metadataBytes > 0 ? slot.metadata.iova() : 0
  if (sgl === undefined) {
    const [prp1, prp2] = slot.prps(offsetBytes, dataBytesOf(order, space))
    return { prp1: flaw === 'prp-offset' ? prp1 + 2 : prp1, prp2, mptr: address }
  }
  const describesMetadata = metadataBytes > 0 && sgl.describesMetadata
  const mptr = describesMetadata ? metadataSegment(slot.list, address, metadataBytes) : address
  const fields = sglFields(slot.data, slot.list, pieces, sgl, order.operation === 'read', flaw as SglFlaw | undefined)
  return { mptr, ...withPsdt(fields, describesMetadata) }
}

function commandDwords(order: IoOrder, space: Space): Record<number, number> {
  const { operation, blocks, sources = [], fua = false } = order
  const force = fua ? FORCE_UNIT_ACCESS : 0
  if (operation === 'flush') return {}
  if (operation === 'deallocate') return { 10: Math.min(blocks, 2) - 1, 11: ATTRIBUTE_DEALLOCATE }
  if (operation === 'copy') return { 10: firstBlock(order, space), 12: sources.length - 1 + force }
  return { 10: firstBlock(order, space), 12: blocks - 1 + force }
}

/** Returns the SLBA. With the flaw `lba`, the last block is the first that does not exist. */
function firstBlock({ flaw, slba, blocks }: IoOrder, space: Space): number {
  return flaw === 'lba' ? space.blocks - blocks + 1 : slba
}

/** Writes the ranges of a Dataset Management command: two ranges, or one for a single block. */
function fillRanges(data: Uint8Array, order: IoOrder, space: Space): void {
  const view = new DataView(data.buffer, data.byteOffset)
  const slba = firstBlock(order, space)
  const half = order.blocks >> 1
  const ranges = [
    { slba, blocks: half },
    { slba: slba + half, blocks: order.blocks - half },
  ].filter(({ blocks }) => blocks > 0)
  ranges.forEach((range, i) => {
    view.setUint32(i * RANGE_BYTES + 4, range.blocks, true)
    view.setBigUint64(i * RANGE_BYTES + 8, BigInt(range.slba), true)
  })
}

/** Writes the source ranges of a Copy command. */
function fillSources(data: Uint8Array, { sources = [] }: IoOrder): void {
  const view = new DataView(data.buffer, data.byteOffset)
  sources.forEach(({ slba, blocks }, i) => {
    view.setBigUint64(i * SOURCE_BYTES + 8, BigInt(slba), true)
    view.setUint16(i * SOURCE_BYTES + 16, blocks - 1, true)
  })
}
