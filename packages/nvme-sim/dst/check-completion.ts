import type { Completion } from '../conformance/raw-host/entry.js'
import { firstDifference } from '../conformance/raw-host/guarded-memory.js'
import { UNWRITTEN } from './buffers.js'
import { RunFailure } from './failure.js'
import type { Medium } from './medium.js'
import { dataBytesOf, dataOf, metadataBytesOf, metadataOf } from './orders.js'
import { ANY, holds, METADATA_WORD, UNREADABLE, type Content } from './pattern.js'
import { discardedRanges, gather } from './placement.js'
import { transferBytes, type Space } from './spaces.js'
import type { Submitted } from './submitted.js'

const PAGE_BYTES = 4096
const NO_BYTES = new Uint8Array(0)

/** Checks the fields of an entry posted for `command`, except its identifiers and status. */
export function checkFields(command: Submitted, entry: Completion): void {
  const { sq } = command
  const was = sq.head
  if (!command.injected.has('corrupt-sqhd') && !sq.takeHead(entry.sqhd)) {
    const facts = `SQHD ${entry.sqhd} after ${was}, with ${sq.entries} entries and the tail at ${sq.tail}`
    throw new RunFailure('completion-fields', `${command.name}: ${facts}`)
  }
  if (command.order && (entry.dw0 !== 0 || entry.dw1 !== 0)) {
    throw new RunFailure('completion-fields', `${command.name}: DW0 ${entry.dw0} and DW1 ${entry.dw1} are not 0`)
  }
}

/** Checks the status of a command's first completion against its order and its faults. */
export function checkStatus(command: Submitted, { status, dnr, more, crd }: Completion): void {
  const wrong = (expected: string) =>
    new RunFailure('status', `${command.name}: expected ${expected}, got ${status} DNR ${dnr} M ${more} CRD ${crd}`)
  if (status === '0/07' && command.abortedBy) return
  if (status === '0/08' && command.isQueueDeleted) return
  if (status === '0/05' && command.isShutDown) return
  if (status === '0/02' && command.isDetached) return
  // The first half of a fused operation failed; a fault for this half has no effect.
  if (status === '0/09' && command.half === 'second') return
  if (command.injected.has('hang')) throw wrong('an abort, since a fault made it hang')
  const planned = command.injectedFault('status')
  if (planned) {
    const expected = `${planned.sct.toString(16)}/${planned.sc.toString(16).padStart(2, '0')}`
    // The controller sets More by itself if its error log has details.
    const isAsPlanned = dnr === (planned.dnr ?? false) && (more || !planned.more) && crd === (planned.crd ?? 0)
    if (status !== expected || !isAsPlanned) throw wrong(`${JSON.stringify(planned)} of the fault plan`)
    return
  }
  if (!command.statuses.includes(status)) throw wrong(command.statuses.join(' or '))
  if (status === '0/00' && (dnr || more || crd !== 0)) throw wrong('0/00 DNR false M false CRD 0')
}

/** Checks the buffers of a completed I/O command: a Read has its data, and all other bytes are unchanged. */
export function checkData(command: Submitted, medium: Medium): void {
  const { order, space, slot, pieces } = command
  if (order === undefined || space === undefined) return
  const isSound = !command.injected.has('status')
  if (isSound) checkReadable(command, medium)
  if (slot === undefined) return
  const isRead = order.operation === 'read'
  if (isRead && isSound && command.status === '0/00') checkBlocks(command, medium)
  // A command with a delayed completion may have been aborted after its data arrived.
  if (isRead && ((isSound && command.status === '0/00') || command.isDelayed)) {
    for (const { at, lengthBytes } of pieces) if (at !== undefined) slot.data.accept(at, lengthBytes)
    const metadataBytes = metadataBytesOf(order, space)
    if (metadataBytes > 0) slot.metadata.accept(0, metadataBytes)
  }
  const regions = metadataBytesOf(order, space) > 0 ? [slot.data, slot.metadata] : [slot.data]
  for (const { bytes, expected, name } of regions) {
    const at = firstDifference(bytes, expected)
    if (at >= 0) throw new RunFailure('data', `${command.name}: byte ${at} of ${name} changed outside its data`)
  }
}

/** Checks the status of a command that reads blocks, some of which Write Uncorrectable may have marked. */
function checkReadable(command: Submitted, medium: Medium): void {
  const { order, status } = command
  const { operation, nsid, slba, blocks, sources } = order!
  if (!['read', 'compare', 'verify', 'copy'].includes(operation)) return
  const ranges = operation === 'copy' ? sources! : [{ slba, blocks }]
  let mayBeMarked = false
  for (const range of ranges) {
    for (let lba = range.slba; lba < range.slba + range.blocks; lba++) {
      const possible = medium.possibleContents(nsid, lba, command.began)
      mayBeMarked ||= possible.includes(UNREADABLE)
      if ((status !== '0/00' && status !== '2/85') || possible.some((content) => content !== UNREADABLE)) continue
      throw new RunFailure('data', `${command.name}: LBA ${lba} was read although it is marked as uncorrectable`)
    }
  }
  if (status === '2/81' && !mayBeMarked)
    throw new RunFailure('data', `${command.name}: none of its blocks is marked as uncorrectable`)
}

function checkBlocks(command: Submitted, medium: Medium): void {
  const { order, space, slot, pieces } = command
  const { nsid, slba, blocks } = order!
  const found = gather(slot!.data, pieces, dataBytesOf(order!, space!))
  const data = command.injected.has('corrupt-data') ? found.slice() : found
  const metadata = separateMetadata(command)
  const damaged = [...undoDamage(command, data), ...discardedRanges(pieces)]
  for (let index = 0; index < blocks; index++) {
    const [start, end] = [index * transferBytes(space!), (index + 1) * transferBytes(space!)]
    if (damaged.some(([from, to]) => from < end && to > start)) continue
    const lba = slba + index
    const possible = medium.possibleContents(nsid, lba, command.began)
    if (possible.some((content) => holdsBlock(data, metadata, index, space!, content))) continue
    throw new RunFailure('data', `${command.name}: LBA ${lba} has none of its possible contents`)
  }
}

/** Returns the metadata that a command transfers in a separate buffer. */
function separateMetadata({ order, space, slot }: Submitted): Uint8Array {
  return metadataBytesOf(order!, space!) > 0 ? slot!.metadata.bytes : NO_BYTES
}

/** Returns whether a block of a command's data and its metadata have this content. */
function holdsBlock(data: Uint8Array, metadata: Uint8Array, index: number, space: Space, content: Content): boolean {
  if (!holds(dataOf(data, index, space), content)) return false
  return space.metadataBytes === 0 || holds(metadataOf(data, metadata, index, space), content, METADATA_WORD)
}

/** Checks a Compare with this status against the possible contents of the blocks. */
export function checkCompare(command: Submitted, medium: Medium): void {
  const { order, space, slot, status, pieces } = command
  if (order?.operation !== 'compare' || slot === undefined || command.injected.has('status')) return
  if (status !== '0/00' && status !== '2/85') return
  const data = gather(slot.data, pieces, dataBytesOf(order, space!))
  const metadata = separateMetadata(command)
  let mayMatch = true
  let mayDiffer = false
  for (let index = 0; index < order.blocks; index++) {
    const possible = medium.possibleContents(order.nsid, order.slba + index, command.began)
    const isEqual = (content: Content) => holdsBlock(data, metadata, index, space!, content)
    mayMatch &&= possible.some(isEqual)
    mayDiffer ||= possible.some((content) => content === ANY || !isEqual(content))
  }
  if (status === '0/00' && !mayMatch) throw new RunFailure('data', `${command.name}: the blocks cannot be equal`)
  if (status === '2/85' && !mayDiffer) throw new RunFailure('data', `${command.name}: the blocks cannot differ`)
}

/**
 * Reverts flipped bits, checks data that must not have arrived, and returns the byte ranges that are then undefined.
 */
function undoDamage(command: Submitted, data: Uint8Array): readonly (readonly [from: number, to: number])[] {
  // With an SGL or metadata, the damaged bytes are not determined: all data are undefined.
  if (hasCoarseDamage(command)) return [[0, data.length]]
  const damaged: (readonly [number, number])[] = []
  const torn = command.injectedFault('torn-dma')
  const lost = torn ? ([torn.fromByte, Math.min(torn.toByte ?? data.length, data.length)] as const) : undefined
  if (lost) {
    if (data.subarray(...lost).some((byte) => byte !== UNWRITTEN)) {
      throw new RunFailure('data', `${command.name}: bytes ${lost.join(' to ')} arrived, although torn-dma drops them`)
    }
    damaged.push(lost)
  }
  const misplaced = command.injectedFault('wrong-page')
  if (misplaced) {
    damaged.push(pageRange(command, misplaced.page, data.length), pageRange(command, misplaced.to, data.length))
  }
  const corrupt = command.injectedFault('corrupt-data')
  if (corrupt) {
    const masks = typeof corrupt.xor === 'number' ? [corrupt.xor] : corrupt.xor
    masks.forEach((mask, i) => {
      const at = corrupt.byte + i
      if (at < data.length && !(lost && at >= lost[0] && at < lost[1])) data[at]! ^= mask
    })
  }
  return damaged
}

function hasCoarseDamage({ injected, order, space }: Submitted): boolean {
  const isDamaged = injected.has('torn-dma') || injected.has('wrong-page') || injected.has('corrupt-data')
  return isDamaged && (order?.sgl !== undefined || space!.metadataBytes > 0)
}

/** Returns the range of a command's data that is in page `page` of its buffer. */
function pageRange({ order }: Submitted, page: number, dataBytes: number): readonly [number, number] {
  const start = page * PAGE_BYTES - order!.offsetBytes
  return [Math.max(0, start), Math.min(dataBytes, start + PAGE_BYTES)]
}

/** Returns the byte ranges of a Write that faults have damaged on the media. */
export function damagedRanges(command: Submitted): (readonly [from: number, to: number])[] {
  const dataBytes = dataBytesOf(command.order!, command.space!)
  if (hasCoarseDamage(command)) return [[0, dataBytes]]
  const ranges: (readonly [number, number])[] = []
  const torn = command.injectedFault('torn-dma')
  if (torn) ranges.push([torn.fromByte, torn.toByte ?? Infinity])
  const misplaced = command.injectedFault('wrong-page')
  if (misplaced) ranges.push(pageRange(command, misplaced.page, dataBytes))
  const corrupt = command.injectedFault('corrupt-data')
  if (corrupt) ranges.push([corrupt.byte, corrupt.byte + (typeof corrupt.xor === 'number' ? 1 : corrupt.xor.length)])
  return ranges
}
