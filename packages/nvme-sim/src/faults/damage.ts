import { Read, STATUS, Write } from '@gpunvme/nvme-spec'
import { returnsData, type ActionOf, type MatchedFaults } from '@gpunvme/nvme-spec/faults'
import type { FaultAction } from '@gpunvme/nvme-spec/transport'
import type { ServedCommand } from '../controller/command.js'
import type { Device } from '../controller/device.js'
import { gather, scatter } from '../memory/runs.js'

/**
 * Faults of a command's data. The command is executed normally and its effect is changed afterwards, at the same
 * instant, so that handlers need no knowledge of faults.
 */

/** Whether this prepared command has the bytes that an action needs; true for all other actions. */
export function canDamage(action: FaultAction, command: ServedCommand, pageBytes: number): boolean {
  switch (action.kind) {
    case 'corrupt-data':
      // The data returned by an Admin command are known only after it was executed.
      if (command.isAdmin()) return returnsData(command.sqe.OPC)
      return movesBlocks(command) && action.byte < dataBytesOf(command)
    case 'torn-dma':
      return movesBlocks(command) && action.fromByte < dataBytesOf(command)
    case 'wrong-page':
      return movesBlocks(command) && Math.max(action.page, action.to) < pagesOf(command, pageBytes).length
    default:
      return true
  }
}

/** Executes a Read or Write by `perform`, and applies the faults of its data. */
export function performDamaged(
  command: ServedCommand,
  matched: MatchedFaults,
  device: Device,
  perform: () => void,
): void {
  const torn = matched.get('torn-dma')
  const misplaced = matched.get('wrong-page')
  const corrupt = matched.get('corrupt-data')
  if (!torn && !misplaced && !corrupt) {
    perform()
    return
  }
  const before = contents(command, device)
  perform()
  if (command.result !== STATUS.SUCCESS) return
  const bytes = contents(command, device)
  // In this order: data that are misplaced or flipped may also fail to arrive.
  if (misplaced) misplace(bytes, before, pagesOf(command, device.pageBytes), misplaced, command.sqe.OPC)
  if (corrupt) flip(bytes, corrupt)
  if (torn) bytes.set(before.subarray(torn.fromByte, torn.toByte), torn.fromByte)
  putContents(command, device, bytes)
  if (misplaced) device.faults.record(matched, 'wrong-page')
  if (corrupt) device.faults.record(matched, 'corrupt-data')
  if (torn) device.faults.record(matched, 'torn-dma')
}

/** Flips bits in data that an Admin command has written to host memory. */
export function corruptAnswer(command: ServedCommand, matched: MatchedFaults, device: Device): void {
  const corrupt = matched.get('corrupt-data')
  if (corrupt === undefined || command.result !== STATUS.SUCCESS) return
  const { runs } = command
  let lengthBytes = 0
  for (let run = 0; run < runs.count; run++) lengthBytes += runs.lengthBytes[run]!
  if (corrupt.byte >= lengthBytes) return
  const bytes = new Uint8Array(lengthBytes)
  if (gather(runs, device.memory, bytes)) return
  flip(bytes, corrupt)
  scatter(runs, device.memory, bytes)
  device.faults.record(matched, 'corrupt-data')
}

function movesBlocks({ result, sqe, lengthBytes, namespace }: ServedCommand): boolean {
  if (result !== undefined || lengthBytes === 0) return false
  // With interleaved metadata, the data on the media are not in the order of host memory.
  return sqe.OPC === Read.opcode || (sqe.OPC === Write.opcode && namespace?.isExtended === false)
}

/** Number of data bytes of a command that cross the link, without separate metadata. */
function dataBytesOf({ lengthBytes, metadataRuns }: ServedCommand): number {
  let bytes = lengthBytes
  for (let run = 0; run < metadataRuns.count; run++) {
    if (!metadataRuns.isDiscarded(run)) bytes -= metadataRuns.lengthBytes[run]!
  }
  return bytes
}

/** Returns a copy of the data at their destination: host memory for a Read, the media for a Write. */
function contents(command: ServedCommand, { memory }: Device): Uint8Array {
  const { sqe, namespace, slba } = command
  const bytes = new Uint8Array(dataBytesOf(command))
  if (sqe.OPC === Read.opcode) gather(command.runs, memory, bytes)
  else namespace!.media.read(slba * namespace!.blockBytes, bytes)
  return bytes
}

function putContents(command: ServedCommand, { memory }: Device, bytes: Uint8Array): void {
  const { sqe, namespace, slba } = command
  if (sqe.OPC === Read.opcode) scatter(command.runs, memory, bytes)
  else namespace!.media.write(slba * namespace!.blockBytes, bytes)
}

interface Page {
  readonly offset: number
  readonly length: number
}

/** Returns the command's data, split at the boundaries of the host's memory pages. */
function pagesOf(command: ServedCommand, pageBytes: number): Page[] {
  const { runs } = command
  const lengthBytes = dataBytesOf(command)
  const pages: Page[] = []
  let offset = 0
  for (let run = 0; run < runs.count; run++) {
    const endIova = runs.iova[run]! + runs.lengthBytes[run]!
    for (let iova = runs.iova[run]!; iova < endIova && offset < lengthBytes;) {
      const length = Math.min(endIova - iova, pageBytes - (iova % pageBytes))
      pages.push({ offset, length })
      iova += length
      offset += length
    }
  }
  return pages
}

/** Moves page `page` as if its PRP entry were that of page `to`; bytes beyond the shorter page stay. */
function misplace(
  bytes: Uint8Array,
  before: Uint8Array,
  pages: readonly Page[],
  { page, to }: ActionOf<'wrong-page'>,
  opcode: number,
): void {
  const [own, other] = [pages[page]!, pages[to]!]
  const length = Math.min(own.length, other.length)
  if (opcode === Read.opcode) {
    bytes.copyWithin(other.offset, own.offset, own.offset + length)
    bytes.set(before.subarray(own.offset, own.offset + own.length), own.offset)
  } else bytes.copyWithin(own.offset, other.offset, other.offset + length)
}

function flip(bytes: Uint8Array, { byte, xor }: ActionOf<'corrupt-data'>): void {
  const masks = typeof xor === 'number' ? [xor] : xor
  masks.forEach((mask, i) => {
    if (byte + i < bytes.length) bytes[byte + i]! ^= mask
  })
}
