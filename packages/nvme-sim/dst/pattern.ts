/**
 * Content of a block: 0 for zeroes, or a positive number for the data that a Write wrote to a block, and that a Copy
 * may have copied to another. `ANY` and `UNREADABLE` are negative.
 */
export type Content = number
/** Content of a block that was never written, or was deallocated, zeroed or formatted. */
export const ZEROES: Content = 0
/** Unknown content: a fault may have changed it to anything. */
export const ANY: Content = -1
/** State of a block after Write Uncorrectable: reading it fails. */
export const UNREADABLE: Content = -2

/** Exclusive upper limit of NSIDs. */
const NSIDS = 64
/** Exclusive upper limit of LBAs. */
const LBAS = 65_536

/** Returns the content that a Write with `salt` writes to a block. Salts are below 2^31. */
export function writtenContent(salt: number, nsid: number, lba: number): Content {
  return (salt * NSIDS + nsid) * LBAS + lba
}

/** First word of the pattern for metadata, so that the metadata of a block differ from its data. */
export const METADATA_WORD = 4096

/** Fills a block with the pattern of a content, from word `first` of it. Different contents differ in every block. */
export function fillBlock(block: Uint8Array, content: Content, first = 0): void {
  const words = wordsOf(block)
  const start = startOf(content) + first
  for (let i = 0; i < words.length; i++) words[i] = content === ZEROES ? 0 : wordAt(start, i)
}

/** Returns whether a block has exactly this content, from word `first` of its pattern. */
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
