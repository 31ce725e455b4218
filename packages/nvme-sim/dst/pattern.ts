/**
 * Content of a block: 0 for zeroes, or a positive number for the data that one Write gave to one block, wherever a Copy
 * may have taken them. Negative numbers are not data: `ANY`, `UNREADABLE`.
 */
export type Content = number
/** Content of a block that was never written, deallocated, zeroed or formatted. */
export const ZEROES: Content = 0
/** Content that a fault may have changed to anything. */
export const ANY: Content = -1
/** State of a block after Write Uncorrectable: it cannot be read. */
export const UNREADABLE: Content = -2

/** NSIDs are below this. */
const NSIDS = 64
/** LBAs are below this. */
const LBAS = 65_536

/** Returns the content that a Write of `salt` gives to a block. Salts are below 2^31. */
export function writtenContent(salt: number, nsid: number, lba: number): Content {
  return (salt * NSIDS + nsid) * LBAS + lba
}

/** Word of the pattern at which the metadata of a block begin, so that they differ from its data. */
export const METADATA_WORD = 4096

/** Fills a block with a content, or from word `first` of it: no two contents have common bytes. */
export function fillBlock(block: Uint8Array, content: Content, first = 0): void {
  const words = wordsOf(block)
  const start = startOf(content) + first
  for (let i = 0; i < words.length; i++) words[i] = content === ZEROES ? 0 : wordAt(start, i)
}

/** Whether a block has exactly this content, or that from word `first` of it. */
export function holds(block: Uint8Array, content: Content, first = 0): boolean {
  if (content < 0) return content === ANY
  const words = wordsOf(block)
  const start = startOf(content) + first
  for (let i = 0; i < words.length; i++) {
    if (words[i] !== (content === ZEROES ? 0 : wordAt(start, i))) return false
  }
  return true
}

function wordsOf({ buffer, byteOffset, length }: Uint8Array): Uint32Array {
  return new Uint32Array(buffer, byteOffset, length / 4)
}

function startOf(content: Content): number {
  const lba = content % LBAS
  const rest = Math.floor(content / LBAS)
  const [nsid, salt] = [rest % NSIDS, Math.floor(rest / NSIDS)]
  return Math.imul(Math.imul(salt, 0x85eb_ca6b) ^ (nsid << 24) ^ lba, 0xc2b2_ae35) ^ salt
}

function wordAt(start: number, index: number): number {
  const mixed = Math.imul(start + index, 0x9e37_79b1)
  return (mixed ^ (mixed >>> 15)) >>> 0
}
