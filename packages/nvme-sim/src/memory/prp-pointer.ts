import type { Runs } from './runs.js'

/** A transfer by PRPs, as far as it takes to say which of its pointers is which. */
export interface PrpTransfer {
  readonly prp2: number
  /** Bytes of the first page. */
  readonly firstBytes: number
  readonly lengthBytes: number
  readonly pageBytes: number
}

/** One page of a transfer, and the pointer that leads to it. */
export interface PrpPage {
  readonly name: string
  readonly iova: number
  readonly lengthBytes: number
}

/** Bytes of an entry of a PRP list. */
export const PRP_BYTES = 8

/** The first page of `runs` that `isGood` does not hold for. Runs are taken apart again here, for messages only. */
export function findPage(
  runs: Runs,
  transfer: PrpTransfer,
  isGood: (iova: number, lengthBytes: number) => boolean,
): PrpPage | undefined {
  let pointer = 0
  for (let run = 0; run < runs.count; run++) {
    const end = runs.iova[run]! + runs.lengthBytes[run]!
    for (let iova = runs.iova[run]!; iova < end; pointer++) {
      const lengthBytes = pointer === 0 ? transfer.firstBytes : Math.min(transfer.pageBytes, end - iova)
      if (!isGood(iova, lengthBytes)) return { name: pointerName(pointer, transfer), iova, lengthBytes }
      iova += lengthBytes
    }
  }
  return undefined
}

/** What the pointer is called that leads to a page of a transfer, by the page's number. */
function pointerName(pointer: number, { prp2, firstBytes, lengthBytes, pageBytes }: PrpTransfer): string {
  if (pointer === 0) return 'PRP1'
  const restBytes = lengthBytes - firstBytes
  if (restBytes <= pageBytes) return 'PRP2'
  let index = pointer - 1
  let left = Math.ceil(restBytes / pageBytes)
  let room = (pageBytes - (prp2 % pageBytes)) / PRP_BYTES
  let listPage = 0
  // The last entry of a list page that is not the last leads to the next one.
  for (; left > room && index >= room - 1; room = pageBytes / PRP_BYTES) {
    index -= room - 1
    left -= room - 1
    listPage++
  }
  return entryName(index, listPage)
}

/** An entry of a PRP list, by its place in one of the list's pages. */
export function entryName(index: number, listPage: number): string {
  return `PRP list entry ${index}${listPage === 0 ? '' : ` of list page ${listPage}`}`
}
