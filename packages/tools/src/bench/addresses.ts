import type { Shape } from './shape.js'

/** Measured area of a namespace, in logical blocks. */
export interface Span {
  readonly firstBlock: number
  readonly blocks: number
}

/**
 * First LBAs of the commands of each job: sequential in the job's own part of the span, wrapping around; or random in
 * the whole span. The same seed gives the same addresses.
 */
export class Addresses {
  private readonly firstBlock: number
  private readonly commandBlocks: number
  /** Commands that fit into the area of a job. */
  private readonly places: number
  private readonly isRandom: boolean
  /** Position of the next command of each job. */
  private readonly next: Float64Array
  private state: number

  /** @throws RangeError if a job's part is shorter than a command. */
  constructor(shape: Shape, span: Span, blockBytes: number, seed: number) {
    this.isRandom = shape.pattern === 'random'
    this.firstBlock = span.firstBlock
    this.commandBlocks = shape.blockBytes / blockBytes
    const parts = this.isRandom ? 1 : shape.jobs
    this.places = Math.floor(span.blocks / this.commandBlocks / parts)
    if (this.places < 1) {
      throw new RangeError(`span: expected room for a command of each job, got ${span.blocks * blockBytes} bytes`)
    }
    this.next = new Float64Array(shape.jobs)
    this.state = seed >>> 0
  }

  /** Returns the first LBA of the next command of `job`. */
  take(job: number): number {
    const place = this.isRandom ? Math.floor(this.random() * this.places) : this.advance(job)
    return this.firstBlock + place * this.commandBlocks
  }

  private advance(job: number): number {
    const place = this.next[job]!
    this.next[job] = (place + 1) % this.places
    return job * this.places + place
  }

  /** A number below 1 with 53 random bits, so that all positions of the largest drive can occur. */
  private random(): number {
    const high = this.draw() >>> 5
    const low = this.draw() >>> 6
    return (high * 2 ** 26 + low) / 2 ** 53
  }

  /** Returns the next 32 bits (Marsaglia's Weyl sequence, mixed by the finalizer of MurmurHash3). */
  private draw(): number {
    this.state = (this.state + 0x9e3779b9) >>> 0
    let mixed = this.state
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
    return (mixed ^ (mixed >>> 16)) >>> 0
  }
}
