import type { Runs } from './runs.js'

/** The properties of a PRP transfer needed to name its pointers. */
export interface PrpTransfer {
  readonly prp2: number
  /** Bytes of the first page. */
  readonly firstBytes: number
  readonly lengthBytes: number
  readonly pageBytes: number
}

/** One page of a transfer, and the pointer to it. */
export interface PrpPage {
  readonly name: string
  readonly iova: number
  readonly lengthBytes: number
}

/** Bytes per entry of a PRP list. */
export const PRP_BYTES = 8

/** Returns the first page of `runs` for which `isGood` is false. Runs are split into pages again, for messages only. */
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

/** Returns the name of the pointer to a page of a transfer, by page number. */
function pointerName(pointer: number, { prp2, firstBytes, lengthBytes, pageBytes }: PrpTransfer): string {
  if (pointer === 0) return 'PRP1'
  const restBytes = lengthBytes - firstBytes
  if (restBytes <= pageBytes) return 'PRP2'
  let index = pointer - 1
  let left = Math.ceil(restBytes / pageBytes)
  let room = (pageBytes - (prp2 % pageBytes)) / PRP_BYTES
  let listPage = 0
  // The last entry of a full list page points to the next page.
  for (; left > room && index >= room - 1; room = pageBytes / PRP_BYTES) {
    index -= room - 1
    left -= room - 1
    listPage++
  }
  return entryName(index, listPage)
}

/** Returns the name of an entry of a PRP list, by its position in a page of the list. */
export function entryName(index: number, listPage: number): string {
  return `PRP list entry ${index}${listPage === 0 ? '' : ` of list page ${listPage}`}`
}
