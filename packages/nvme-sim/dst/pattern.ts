/** Content of a block: 0 for zeroes, ANY if a fault may have left anything, otherwise the salt of a Write. */
export type Content = number
/** Content of a deallocated or zeroed block. */
export const ZEROES: Content = 0
/** Content that a fault may have changed to anything. */
export const ANY: Content = -1

/** Fills a block with the data of a Write of `salt`: no two blocks, and no two salts, have common bytes. */
export function fillBlock(block: Uint8Array, content: Content, nsid: number, lba: number): void {
  const words = wordsOf(block)
  const start = startOf(content, nsid, lba)
  for (let i = 0; i < words.length; i++) words[i] = content === ZEROES ? 0 : wordAt(start, i)
}

/** Whether a block has exactly this content. */
export function holds(block: Uint8Array, content: Content, nsid: number, lba: number): boolean {
  if (content === ANY) return true
  const words = wordsOf(block)
  const start = startOf(content, nsid, lba)
  for (let i = 0; i < words.length; i++) {
    if (words[i] !== (content === ZEROES ? 0 : wordAt(start, i))) return false
  }
  return true
}

function wordsOf({ buffer, byteOffset, length }: Uint8Array): Uint32Array {
  return new Uint32Array(buffer, byteOffset, length / 4)
}

function startOf(content: Content, nsid: number, lba: number): number {
  return Math.imul(Math.imul(content, 0x85eb_ca6b) ^ (nsid << 24) ^ lba, 0xc2b2_ae35) ^ content
}

function wordAt(start: number, index: number): number {
  const mixed = Math.imul(start + index, 0x9e37_79b1)
  return (mixed ^ (mixed >>> 15)) >>> 0
}
