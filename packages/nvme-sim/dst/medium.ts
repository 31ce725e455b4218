import { ANY, ZEROES, type Content } from './pattern.js'

/** One possible content of a block, from a Write that was or may be executed. */
interface Candidate {
  content: Content
  /** Times of events: when its Write was submitted, and when it was known to be complete. */
  readonly began: number
  ended: number
  /** Time when a later Write was known to have replaced it. */
  removed: number
  /** The Write that it comes from. */
  readonly by: object | undefined
}

/** A range of blocks of one namespace. */
export interface Range {
  readonly nsid: number
  readonly slba: number
  readonly blocks: number
}

/**
 * What the host may read back, by block. Writes that overlap in time may take effect in any order; one that ended
 * before another began is replaced by it. Blocks of one Write are independent of each other.
 */
export class Medium {
  private readonly blocks = new Map<string, Candidate[]>()
  private clock = 0

  /** Advances the time of events. */
  tick(): number {
    return ++this.clock
  }

  /** A Write is submitted: from now on its data may be there. */
  begin(range: Range, by: object, contentAt: (index: number) => Content): void {
    const began = this.tick()
    this.each(range, (candidates, index) => {
      candidates.push({ content: contentAt(index), began, ended: Infinity, removed: Infinity, by })
    })
  }

  /** The Write is known to be complete: contents that ended before it began are replaced. */
  end(range: Range, by: object): void {
    const now = this.tick()
    this.each(range, (candidates) => {
      const own = candidates.find((each) => each.by === by)
      if (own === undefined) return
      own.ended = now
      for (const other of candidates) {
        if (other.ended < own.began && other.removed === Infinity) other.removed = now
      }
    })
  }

  /** The Write is known not to have happened. */
  cancel(range: Range, by: object): void {
    this.each(range, (candidates) => {
      const at = candidates.findIndex((each) => each.by === by)
      if (at >= 0) candidates.splice(at, 1)
    })
  }

  /** The Write may or may not have happened, and will no longer happen. */
  leave(range: Range, by: object): void {
    const now = this.tick()
    this.each(range, (candidates) => {
      for (const each of candidates) if (each.by === by) each.ended = now
    })
  }

  /** A fault has damaged what the Write put into block `index` of its range. */
  damage(range: Range, by: object, index: number): void {
    this.each({ ...range, slba: range.slba + index, blocks: 1 }, (candidates) => {
      for (const each of candidates) if (each.by === by) each.content = ANY
    })
  }

  /** Returns what a command submitted at `began` and completed now may have found in a block. */
  possible(nsid: number, lba: number, began: number): Content[] {
    return this.at(nsid, lba)
      .filter(({ removed }) => removed > began)
      .map(({ content }) => content)
  }

  private each({ nsid, slba, blocks }: Range, visit: (candidates: Candidate[], index: number) => void): void {
    for (let index = 0; index < blocks; index++) visit(this.at(nsid, slba + index), index)
  }

  private at(nsid: number, lba: number): Candidate[] {
    const key = `${nsid}/${lba}`
    let candidates = this.blocks.get(key)
    if (candidates === undefined) {
      candidates = [{ content: ZEROES, began: 0, ended: 0, removed: Infinity, by: undefined }]
      this.blocks.set(key, candidates)
    }
    return candidates
  }
}
