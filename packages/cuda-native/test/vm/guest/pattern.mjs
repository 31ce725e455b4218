// Content that says where it belongs and how old it is: every byte is checked, at the price of a copy and a comparison.

const TEMPLATE_BYTES = 4 * 2 ** 20

/** Numbers below 2^32 that look random and are the same every time (xorshift32, Marsaglia 2003). */
export function random(seed) {
  let state = seed
  return (below) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}

/**
 * What a namespace holds. A block is a part of one long row of random bytes, chosen by its LBA, with the LBA and how
 * often the block was written in its first two words.
 */
export class Content {
  constructor(blocks, blockBytes) {
    this.blockBytes = blockBytes
    this.generations = new Uint32Array(blocks)
    const next = random(0x9e3779b9)
    this.template = new Uint8Array(Uint32Array.from({ length: TEMPLATE_BYTES / 4 }, () => next(2 ** 32)).buffer)
  }

  /** From now on, these blocks have been written once more. */
  advance(slba, blocks) {
    for (let lba = slba; lba < slba + blocks; lba++) this.generations[lba]++
  }

  /** Puts what the blocks hold at byte `offset` of `bytes`. */
  fill(bytes, offset, slba, blocks) {
    const { blockBytes, template, generations } = this
    const length = blocks * blockBytes
    for (let done = 0; done < length;) {
      const from = (slba * blockBytes + done) % TEMPLATE_BYTES
      const run = Math.min(length - done, TEMPLATE_BYTES - from)
      bytes.set(template.subarray(from, from + run), offset + done)
      done += run
    }
    const words = new Uint32Array(bytes.buffer, bytes.byteOffset + offset, length / 4)
    for (let block = 0; block < blocks; block++) {
      words[(block * blockBytes) / 4] = slba + block
      words[(block * blockBytes) / 4 + 1] = generations[slba + block]
    }
  }
}
