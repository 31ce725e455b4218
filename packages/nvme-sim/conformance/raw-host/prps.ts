import type { RingMemory } from './rings.js'

/**
 * Returns PRP1 and PRP2 for `lengthBytes` of memory from `offset`. Writes a PRP list, if the transfer needs one, into
 * memory that `allocList` returns; the last entry of a full list page points to the next page (Base 2.3 §4.3.1).
 */
export function prpsOf(
  memory: Pick<RingMemory, 'iovaAt'>,
  offset: number,
  lengthBytes: number,
  pageBytes: number,
  allocList: (lengthBytes: number) => RingMemory,
): [prp1: number, prp2: number] {
  const prp1 = memory.iovaAt(offset)
  const pages: number[] = []
  for (let at = offset + pageBytes - (prp1 % pageBytes); at < offset + lengthBytes; at += pageBytes) {
    pages.push(memory.iovaAt(at))
  }
  if (pages.length <= 1) return [prp1, pages[0] ?? 0]
  const slots = pageBytes / 8
  const listBytes = Math.ceil(pages.length / (slots - 1)) * pageBytes
  const list = allocList(listBytes)
  let slot = 0
  const put = (iova: number) => list.view.setBigUint64(8 * slot++, BigInt(iova), true)
  pages.forEach((page, index) => {
    if (slot % slots === slots - 1 && index < pages.length - 1) put(list.iovaAt(8 * slot + 8))
    put(page)
  })
  list.forDevice(0, 8 * slot)
  return [prp1, list.iovaAt(0)]
}
