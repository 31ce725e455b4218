import { STATUS, type StatusCode } from '@gpunvme/nvme-spec'
import { hex, type DiagnosticCode, type Diagnostics } from '../controller/diagnostics.js'
import { entryName, findPage, PRP_BYTES } from './prp-pointer.js'
import type { Requester, MemoryAccess, ReachableMemory } from './reachable.js'
import { contentsOf, type Runs } from './runs.js'

/** Walks PRP entries (Base 2.1 §4.3.1) with the page size of CC.MPS, and enforces every rule. */
export class PrpWalker {
  private readonly memory: ReachableMemory
  private readonly diagnostics: Diagnostics
  /** The command of the walk, for messages. */
  private requester: Requester | undefined

  constructor(memory: ReachableMemory, diagnostics: Diagnostics) {
    this.memory = memory
    this.diagnostics = diagnostics
  }

  /**
   * Fills `runs` with the location of `lengthBytes` of data. Returns undefined on success, otherwise the status, and
   * then `runs` is invalid. Every byte is checked to be accessible memory ('write' for data to the host), so that a
   * transfer is never started in part.
   */
  walk(
    requester: Requester,
    prp1: number,
    prp2: number,
    lengthBytes: number,
    pageBytes: number,
    runs: Runs,
    access: MemoryAccess,
  ): StatusCode | undefined {
    this.requester = requester
    runs.clear()
    // On the low half only: a remainder of a number above 2^32 takes as long as the rest of a short walk.
    const offset = prp1 & (pageBytes - 1)
    if (offset % 4 !== 0) return this.refuse('PRP1', prp1, 'is not dword aligned')
    const firstBytes = Math.min(lengthBytes, pageBytes - offset)
    runs.add(prp1, firstBytes)
    const restBytes = lengthBytes - firstBytes
    if (restBytes > pageBytes) {
      const fault = this.walkList(prp2, restBytes, pageBytes, runs)
      if (fault) return fault
    } else if (restBytes > 0) {
      if ((prp2 & (pageBytes - 1)) !== 0) return this.refuse('PRP2', prp2, 'has an offset in its page')
      runs.add(prp2, restBytes)
    }
    for (let i = 0; i < runs.count; i++) {
      if (this.memory.has(runs.iova[i]!, runs.lengthBytes[i]!, access)) continue
      const isMemory = (iova: number, bytes: number) => this.memory.has(iova, bytes, access)
      const page = findPage(runs, { prp2, firstBytes, lengthBytes, pageBytes }, isMemory)
      // Another thread may have freed the memory meanwhile.
      return this.missing(
        page?.name ?? 'PRPs from',
        page?.iova ?? runs.iova[i]!,
        page?.lengthBytes ?? runs.lengthBytes[i]!,
        access,
      )
    }
    return undefined
  }

  private walkList(listIova: number, lengthBytes: number, pageBytes: number, runs: Runs): StatusCode | undefined {
    // Only the first pointer to a list may have an offset (Base 2.1 §4.3.1).
    if (listIova % PRP_BYTES !== 0) return this.refuse('the PRP list pointer', listIova, 'is not qword aligned')
    const offsetBits = pageBytes - 1
    let next = listIova
    for (let remaining = lengthBytes, listPage = 0; ; listPage++) {
      const room = (pageBytes - (next % pageBytes)) / PRP_BYTES
      const wanted = Math.ceil(remaining / pageBytes)
      const goesOn = wanted > room
      const listBytes = Math.min(wanted, room) * PRP_BYTES
      const list = contentsOf(this.memory, next, listBytes)
      if (list === undefined)
        return this.missing(listPage === 0 ? 'the PRP list' : 'the next PRP list page', next, listBytes, 'read')
      runs.listBytes += listBytes
      const entries = new DataView(list.buffer, list.byteOffset, list.length)
      const dataEntries = goesOn ? room - 1 : wanted
      for (let i = 0; i < dataEntries; i++) {
        const page = entryAt(entries, i)
        if ((entries.getUint32(i * PRP_BYTES, true) & offsetBits) !== 0) {
          return this.refuse(entryName(i, listPage), page, 'has an offset in its page')
        }
        runs.add(page, remaining < pageBytes ? remaining : pageBytes)
        remaining -= pageBytes
      }
      if (!goesOn) return undefined
      next = entryAt(entries, room - 1)
      if (next % pageBytes !== 0) return this.refuse('the next PRP list page', next, 'has an offset in its page')
    }
  }

  private refuse(what: string, iova: number, why: string): StatusCode {
    this.report('data-pointer', `${what} ${hex(iova)} ${why} (Base 2.1 §4.3.1)`)
    return STATUS.PRP_OFFSET_INVALID
  }

  private missing(what: string, iova: number, lengthBytes: number, access: MemoryAccess): StatusCode {
    this.report(
      'unmapped-memory',
      `${what} ${hex(iova)}, ${lengthBytes} bytes: ${this.memory.explainUnmapped(iova, lengthBytes, access)}`,
    )
    return STATUS.DATA_TRANSFER_ERROR
  }

  private report(code: DiagnosticCode, what: string): void {
    this.diagnostics.report(code, `${this.requester!.describe()}: ${what}`)
  }
}

function entryAt(entries: DataView, index: number): number {
  const at = index * PRP_BYTES
  return entries.getUint32(at, true) + entries.getUint32(at + 4, true) * 0x1_0000_0000
}
