import { STATUS, type StatusCode } from '@gpunvme/nvme-spec'
import { hex, type Diagnostics } from '../controller/diagnostics.js'
import type { ReachableMemory } from './reachable.js'
import type { Runs } from './runs.js'

const ENTRY_BYTES = 8

/** Reads PRP entries (Base 2.1 §4.3.1) with the page size of CC.MPS, and takes the strict side of every rule. */
export class PrpWalker {
  private readonly memory: ReachableMemory
  private readonly diagnostics: Diagnostics

  constructor(memory: ReachableMemory, diagnostics: Diagnostics) {
    this.memory = memory
    this.diagnostics = diagnostics
  }

  /**
   * Fills `runs` with where `lengthBytes` of data lie. Undefined is success; a status says what is wrong, and then
   * `runs` means nothing. Every byte named has been checked to be memory, so that a transfer is whole or is not begun.
   */
  walk(prp1: number, prp2: number, lengthBytes: number, pageBytes: number, runs: Runs): StatusCode | undefined {
    runs.clear()
    const offset = prp1 % pageBytes
    if (offset % 4 !== 0) return this.refuse('PRP1', prp1, 'is not dword aligned')
    const firstBytes = Math.min(lengthBytes, pageBytes - offset)
    runs.add(prp1, firstBytes)
    const restBytes = lengthBytes - firstBytes
    if (restBytes > pageBytes) {
      const fault = this.walkList(prp2, restBytes, pageBytes, runs)
      if (fault) return fault
    } else if (restBytes > 0) {
      if (prp2 % pageBytes !== 0) return this.refuse('PRP2', prp2, 'has an offset in its page')
      runs.add(prp2, restBytes)
    }
    return this.checkMemory(runs)
  }

  private walkList(listIova: number, lengthBytes: number, pageBytes: number, runs: Runs): StatusCode | undefined {
    // Only the first pointer to a list may have an offset (Base 2.1 §4.3.1).
    if (listIova % ENTRY_BYTES !== 0) return this.refuse('the PRP list pointer', listIova, 'is not qword aligned')
    const offsetBits = pageBytes - 1
    let next = listIova
    for (let remaining = lengthBytes; ;) {
      const room = (pageBytes - (next % pageBytes)) / ENTRY_BYTES
      const wanted = Math.ceil(remaining / pageBytes)
      const goesOn = wanted > room
      const listBytes = Math.min(wanted, room) * ENTRY_BYTES
      const list = this.memory.bytes(next, listBytes)
      if (list === undefined) return this.missing('a PRP list', next, listBytes)
      runs.listBytes += listBytes
      const entries = new DataView(list.buffer, list.byteOffset, list.length)
      const dataEntries = goesOn ? room - 1 : wanted
      for (let i = 0; i < dataEntries; i++) {
        const page = entryAt(entries, i)
        // By the lower half alone: a remainder of a number above 2^32 takes as long as all the rest of this loop.
        if ((entries.getUint32(i * ENTRY_BYTES, true) & offsetBits) !== 0) {
          return this.refuse(`PRP list entry ${i}`, page, 'has an offset in its page')
        }
        runs.add(page, remaining < pageBytes ? remaining : pageBytes)
        remaining -= pageBytes
      }
      if (!goesOn) return undefined
      next = entryAt(entries, room - 1)
      if (next % pageBytes !== 0) return this.refuse('the next PRP list page', next, 'has an offset in its page')
    }
  }

  private checkMemory({ count, iova, lengthBytes }: Runs): StatusCode | undefined {
    for (let i = 0; i < count; i++) {
      if (!this.memory.has(iova[i]!, lengthBytes[i]!)) return this.missing('data', iova[i]!, lengthBytes[i]!)
    }
    return undefined
  }

  private refuse(what: string, iova: number, why: string): StatusCode {
    this.diagnostics.report(`${what} ${hex(iova)} ${why} (Base 2.1 §4.3.1)`)
    return STATUS.PRP_OFFSET_INVALID
  }

  private missing(what: string, iova: number, lengthBytes: number): StatusCode {
    this.diagnostics.report(`${what} at ${hex(iova)}, ${lengthBytes} bytes: no memory there, or not all of it`)
    return STATUS.DATA_TRANSFER_ERROR
  }
}

function entryAt(entries: DataView, index: number): number {
  const at = index * ENTRY_BYTES
  return entries.getUint32(at, true) + entries.getUint32(at + 4, true) * 0x1_0000_0000
}
