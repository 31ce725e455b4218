import type { Shape } from './shape.js'

/** Where on a namespace is measured, in logical blocks. */
export interface Span {
  readonly firstBlock: number
  readonly blocks: number
}

/**
 * First LBAs of the commands of each job, one after the other: through the job's own part of the span and round again, or
 * anywhere in all of it. The same seed gives the same ones.
 */
export class Addresses {
  private readonly firstBlock: number
  private readonly commandBlocks: number
  /** How many commands fit into what a job goes through. */
  private readonly places: number
  private readonly isRandom: boolean
  /** For each job, the place of its next command. */
  private readonly next: Float64Array
  private state: number

  /** @throws RangeError where a job's part holds not even one command. */
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

  /** The first LBA of the next command of `job`. */
  take(job: number): number {
    const place = this.isRandom ? Math.floor(this.random() * this.places) : this.advance(job)
    return this.firstBlock + place * this.commandBlocks
  }

  private advance(job: number): number {
    const place = this.next[job]!
    this.next[job] = (place + 1) % this.places
    return job * this.places + place
  }

  /** A number below 1 of 53 bits, so that every place of the largest drive can come up. */
  private random(): number {
    const high = this.draw() >>> 5
    const low = this.draw() >>> 6
    return (high * 2 ** 26 + low) / 2 ** 53
  }

  /** The 32 bits that follow (Marsaglia's Weyl sequence, mixed as MurmurHash3 finishes). */
  private draw(): number {
    this.state = (this.state + 0x9e3779b9) >>> 0
    let mixed = this.state
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
    return (mixed ^ (mixed >>> 16)) >>> 0
  }
}
