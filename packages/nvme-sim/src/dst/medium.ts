import { ANY, ZEROES, type Content } from './pattern.js'

/** One of the things that a block may hold: what some Write put there, or may put there. */
interface Candidate {
  content: Content
  /** The order of events: when its Write was given to the controller, and when it was known to be done. */
  readonly began: number
  ended: number
  /** When a later Write was known to have replaced it. */
  removed: number
  /** The Write it comes from. */
  readonly by: object | undefined
}

/** A run of blocks of one namespace. */
export interface Range {
  readonly nsid: number
  readonly slba: number
  readonly blocks: number
}

/**
 * What the host may read back, block by block. Writes that overlap in time may take effect in any order; one that had
 * ended before another began is replaced by it. Nothing is assumed about several blocks of one Write together.
 */
export class Medium {
  private readonly blocks = new Map<string, Candidate[]>()
  private clock = 0

  /** A new moment. */
  tick(): number {
    return ++this.clock
  }

  /** A Write is given to the controller: from now on its data may be there. */
  begin(range: Range, by: object, contentAt: (index: number) => Content): void {
    const began = this.tick()
    this.each(range, (candidates, index) => {
      candidates.push({ content: contentAt(index), began, ended: Infinity, removed: Infinity, by })
    })
  }

  /** The Write is known to be done: what had ended before it began is gone. */
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

  /** Nobody knows whether the Write happened; it will not any more. */
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

  /** What a command that was given to the controller at `began` and is done now may have found in a block. */
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
