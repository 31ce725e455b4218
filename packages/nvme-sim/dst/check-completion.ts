import type { Completion } from '../conformance/raw-host/entry.js'
import { firstDifference } from '../conformance/raw-host/guarded-memory.js'
import { RunFailure } from './failure.js'
import type { Medium } from './medium.js'
import { holds } from './pattern.js'
import { UNWRITTEN } from './buffers.js'
import type { NamespaceShape } from './scenario.js'
import type { Submitted } from './submitted.js'

const PAGE_BYTES = 4096

/** Checks the fields of an entry posted for `command`, except its identifiers and status. */
export function checkFields(command: Submitted, entry: Completion): void {
  const { sq } = command
  const was = sq.head
  if (!command.struck.has('corrupt-sqhd') && !sq.takeHead(entry.sqhd)) {
    const facts = `SQHD ${entry.sqhd} after ${was}, with ${sq.entries} entries and the tail at ${sq.tail}`
    throw new RunFailure('completion-fields', `${command.name}: ${facts}`)
  }
  if (command.order && (entry.dw0 !== 0 || entry.dw1 !== 0)) {
    throw new RunFailure('completion-fields', `${command.name}: DW0 ${entry.dw0} and DW1 ${entry.dw1} are not 0`)
  }
}

/** Checks the status of a command's first completion against its order and the faults that struck it. */
export function checkStatus(command: Submitted, { status, dnr, more, crd }: Completion): void {
  const wrong = (expected: string) =>
    new RunFailure('status', `${command.name}: expected ${expected}, got ${status} DNR ${dnr} M ${more} CRD ${crd}`)
  if (status === '0/07' && command.abortedBy) return
  if (status === '0/08' && command.isQueueDeleted) return
  if (status === '0/05' && command.isShutDown) return
  if (status === '0/02' && command.isDetached) return
  if (command.struck.has('hang')) throw wrong('an abort, since it hangs')
  const planned = command.strike('status')
  if (planned) {
    const expected = `${planned.sct.toString(16)}/${planned.sc.toString(16).padStart(2, '0')}`
    // The controller sets More by itself if its error log has details.
    const isAsPlanned = dnr === (planned.dnr ?? false) && (more || !planned.more) && crd === (planned.crd ?? 0)
    if (status !== expected || !isAsPlanned) throw wrong(`${JSON.stringify(planned)}, by the plan`)
    return
  }
  if (!command.statuses.includes(status)) throw wrong(command.statuses.join(' or '))
  if (status === '0/00' && (dnr || more || crd !== 0)) throw wrong('nothing but 0/00')
}

/** Checks the buffer of a completed I/O command: a Read's data, and that nothing else was changed. */
export function checkData(command: Submitted, medium: Medium, { nsid, blockBytes }: NamespaceShape): void {
  const { order, slot, dataBytes } = command
  if (order === undefined || slot === undefined) return
  const { bytes, expected } = slot.data
  if (order.operation === 'read' && command.status === '0/00' && !command.struck.has('status')) {
    const data = bytes.slice(order.offsetBytes, order.offsetBytes + dataBytes)
    const damaged = undoDamage(command, data)
    for (let index = 0; index < order.blocks; index++) {
      const [start, end] = [index * blockBytes, (index + 1) * blockBytes]
      if (damaged.some(([from, to]) => from < end && to > start)) continue
      const lba = order.slba + index
      const possible = medium.possible(nsid, lba, command.began)
      if (possible.some((content) => holds(data.subarray(start, end), content, nsid, lba))) continue
      throw new RunFailure('data', `${command.name}: LBA ${lba} holds none of what was written there`)
    }
    slot.data.accept(order.offsetBytes, dataBytes)
  }
  // Aborted after its data arrived: they may be there or not.
  if (order.operation === 'read' && command.isPutOff) slot.data.accept(order.offsetBytes, dataBytes)
  const at = firstDifference(bytes, expected)
  if (at >= 0) throw new RunFailure('data', `${command.name}: byte ${at} of its buffer was changed, and is not its own`)
}

/** Checks a Compare with this status against the possible contents of the blocks. */
export function checkCompare(command: Submitted, medium: Medium, { nsid, blockBytes }: NamespaceShape): void {
  const { order, slot, status } = command
  if (order?.operation !== 'compare' || command.struck.has('status')) return
  let mayMatch = true
  let mayDiffer = false
  for (let index = 0; index < order.blocks; index++) {
    const lba = order.slba + index
    const at = order.offsetBytes + index * blockBytes
    const block = slot!.data.bytes.subarray(at, at + blockBytes)
    const possible = medium.possible(nsid, lba, command.began)
    mayMatch &&= possible.some((content) => holds(block, content, nsid, lba))
    mayDiffer ||= possible.some((content) => content < 0 || !holds(block, content, nsid, lba))
  }
  if (status === '0/00' && !mayMatch) throw new RunFailure('data', `${command.name}: equal to what cannot be there`)
  if (status === '2/85' && !mayDiffer) throw new RunFailure('data', `${command.name}: not equal to what must be there`)
}

/**
 * Reverts flipped bits, checks data that must not have arrived, and returns the byte ranges that are then undefined.
 */
function undoDamage(command: Submitted, data: Uint8Array): (readonly [from: number, to: number])[] {
  const damaged: (readonly [number, number])[] = []
  const torn = command.strike('torn-dma')
  const lost = torn ? ([torn.fromByte, Math.min(torn.toByte ?? data.length, data.length)] as const) : undefined
  if (lost) {
    if (data.subarray(...lost).some((byte) => byte !== UNWRITTEN)) {
      throw new RunFailure('data', `${command.name}: bytes ${lost.join(' to ')} arrived, and were to be lost`)
    }
    damaged.push(lost)
  }
  const misplaced = command.strike('wrong-page')
  if (misplaced) damaged.push(pageRange(command, misplaced.page), pageRange(command, misplaced.to))
  const corrupt = command.strike('corrupt-data')
  if (corrupt) {
    const masks = typeof corrupt.xor === 'number' ? [corrupt.xor] : corrupt.xor
    masks.forEach((mask, i) => {
      const at = corrupt.byte + i
      if (at < data.length && !(lost && at >= lost[0] && at < lost[1])) data[at]! ^= mask
    })
  }
  return damaged
}

/** Returns the range of the command's bytes in a page of its data. */
function pageRange({ order, dataBytes }: Submitted, page: number): readonly [number, number] {
  const start = page * PAGE_BYTES - order!.offsetBytes
  return [Math.max(0, start), Math.min(dataBytes, start + PAGE_BYTES)]
}

/** Returns the byte ranges of a Write's data that faults have damaged on the media. */
export function damagedRanges(command: Submitted): (readonly [from: number, to: number])[] {
  const ranges: (readonly [number, number])[] = []
  const torn = command.strike('torn-dma')
  if (torn) ranges.push([torn.fromByte, torn.toByte ?? Infinity])
  const misplaced = command.strike('wrong-page')
  if (misplaced) ranges.push(pageRange(command, misplaced.page))
  const corrupt = command.strike('corrupt-data')
  if (corrupt) ranges.push([corrupt.byte, corrupt.byte + (typeof corrupt.xor === 'number' ? 1 : corrupt.xor.length)])
  return ranges
}
