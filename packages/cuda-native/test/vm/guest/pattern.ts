// Content that encodes its LBA and its generation, so that one comparison detects misplaced and outdated data.

const TEMPLATE_BYTES = 4 * 2 ** 20

/** Returns a deterministic generator of pseudo-random numbers below a bound (xorshift32, Marsaglia 2003). */
export function random(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}

export function randomBytes(lengthBytes: number, seed: number): Buffer {
  const next = random(seed)
  return Buffer.from(Uint32Array.from({ length: lengthBytes / 4 }, () => next(2 ** 32)).buffer)
}

/**
 * Expected content of a namespace. A block that was written has its LBA and its number of writes in the first two
 * words, followed by random bytes that its LBA selects from a template. A block that was never written is zero.
 */
export class Content {
  private readonly blockBytes: number
  private readonly generations: Uint32Array
  private readonly template = randomBytes(TEMPLATE_BYTES, 0x9e3779b9)

  constructor(blocks: number, blockBytes: number) {
    this.blockBytes = blockBytes
    this.generations = new Uint32Array(blocks)
  }

  /** Counts another write of these blocks. */
  advance(slba: number, blocks: number): void {
    for (let lba = slba; lba < slba + blocks; lba++) this.generations[lba]!++
  }

  /** Stores the expected content of blocks in `bytes`, from byte `offset` on. */
  fill(bytes: Buffer, offset: number, slba: number, blocks: number): void {
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
      const at = (block * blockBytes) / 4
      const generation = generations[slba + block]!
      if (generation === 0) words.fill(0, at, at + blockBytes / 4)
      else {
        words[at] = slba + block
        words[at + 1] = generation
      }
    }
  }
}
