import { Read, STATUS, Write } from '@gpunvme/nvme-spec'
import { answersWithData, type ActionOf, type Struck } from '@gpunvme/nvme-spec/faults'
import type { FaultAction } from '@gpunvme/nvme-spec/transport'
import type { ServedCommand } from '../controller/command.js'
import type { Device } from '../controller/device.js'
import { gather, scatter } from '../memory/runs.js'

/**
 * Faults of a command's data. They are done around the command as it is: what would have been is made wrong
 * afterwards, within the same instant, so that no handler knows of them.
 */

/** Whether an action finds its bytes in this command, which has been prepared; any other action finds what it needs. */
export function canDamage(action: FaultAction, command: ServedCommand, pageBytes: number): boolean {
  switch (action.kind) {
    case 'corrupt-data':
      // What an Admin command answers is known only when it is done.
      if (command.isAdmin()) return answersWithData(command.sqe.OPC)
      return movesBlocks(command) && action.byte < command.lengthBytes
    case 'torn-dma':
      return movesBlocks(command) && action.fromByte < command.lengthBytes
    case 'wrong-page':
      return movesBlocks(command) && Math.max(action.page, action.to) < pagesOf(command, pageBytes).length
    default:
      return true
  }
}

/** Does a Read or Write by `perform`, with what strikes its data. */
export function performDamaged(command: ServedCommand, struck: Struck, device: Device, perform: () => void): void {
  const torn = struck.get('torn-dma')
  const misplaced = struck.get('wrong-page')
  const corrupt = struck.get('corrupt-data')
  if (!torn && !misplaced && !corrupt) {
    perform()
    return
  }
  const before = contents(command, device)
  perform()
  if (command.result !== STATUS.SUCCESS) return
  const bytes = contents(command, device)
  // In this order: what goes to a wrong place, or is flipped, may still not arrive.
  if (misplaced) misplace(bytes, before, pagesOf(command, device.pageBytes), misplaced, command.sqe.OPC)
  if (corrupt) flip(bytes, corrupt)
  if (torn) bytes.set(before.subarray(torn.fromByte, torn.toByte), torn.fromByte)
  putContents(command, device, bytes)
  if (misplaced) device.faults.happened(struck, 'wrong-page')
  if (corrupt) device.faults.happened(struck, 'corrupt-data')
  if (torn) device.faults.happened(struck, 'torn-dma')
}

/** Flips bits in what an Admin command has written to the host's memory. */
export function corruptAnswer(command: ServedCommand, struck: Struck, device: Device): void {
  const corrupt = struck.get('corrupt-data')
  if (corrupt === undefined || command.result !== STATUS.SUCCESS) return
  const { runs } = command
  let lengthBytes = 0
  for (let run = 0; run < runs.count; run++) lengthBytes += runs.lengthBytes[run]!
  if (corrupt.byte >= lengthBytes) return
  const bytes = new Uint8Array(lengthBytes)
  if (gather(runs, device.memory, bytes)) return
  flip(bytes, corrupt)
  scatter(runs, device.memory, bytes)
  device.faults.happened(struck, 'corrupt-data')
}

function movesBlocks({ result, sqe, lengthBytes, namespace }: ServedCommand): boolean {
  if (result !== undefined || lengthBytes === 0) return false
  // Where metadata come in between, the media does not hold the data as the host sends them.
  return sqe.OPC === Read.opcode || (sqe.OPC === Write.opcode && namespace?.isExtended === false)
}

/** A copy of where the data goes: the host's memory for a Read, the media for a Write. */
function contents(command: ServedCommand, { memory }: Device): Uint8Array {
  const { sqe, namespace, slba, lengthBytes } = command
  const bytes = new Uint8Array(lengthBytes)
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

/** The command's data cut at the boundaries of the host's memory pages. */
function pagesOf({ runs, lengthBytes }: ServedCommand, pageBytes: number): Page[] {
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

/** Page `page` as if its PRP entry had been that of page `to`; what is longer in one of the two stays. */
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
