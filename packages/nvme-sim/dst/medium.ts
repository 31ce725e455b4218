import { ANY, UNREADABLE, ZEROES, type Content } from './pattern.js'

/** A block that a Copy reads: any possible content from its submission on, except the data of the Copy itself. */
export interface Source {
  readonly nsid: number
  readonly lba: number
}

/** One possible content of a block, from a command that was or may be executed. */
interface Candidate {
  /** Usually one content; a Copy may have several, as its source may have had several. */
  contents: readonly Content[]
  /** The source of a Copy that may still be executed. */
  source: Source | undefined
  /** Logical times at which its command was submitted, and at which it was known to be complete. */
  readonly began: number
  ended: number
  /** Logical time at which a later command was known to have replaced it. */
  removed: number
  /** Whether it survives a power loss after its command has completed. */
  isDurable: boolean
  /** Command that writes it. */
  readonly by: object | undefined
  /** Whether its source is being resolved, since copies may form a cycle. */
  isVisited: boolean
}

/** A range of blocks of one namespace. */
export interface Range {
  readonly nsid: number
  readonly slba: number
  readonly blocks: number
}

/**
 * The contents that each block may have. Commands that overlap in time may take effect in any order; a command that
 * begins after another has ended replaces it. Blocks of one command are independent of each other.
 */
export class Medium {
  private readonly namespaces = new Map<number, Map<number, Candidate[]>>()
  /** By NSID: contents replaced before this time do not return after a power loss. */
  private readonly flushed = new Map<number, number>()
  private powerLost = 0
  private clock = 0

  /** Advances the logical clock, and returns its time. */
  tick(): number {
    return ++this.clock
  }

  /** Records a submitted change, which may take effect from now on. For a Copy, `contentAt` returns its source. */
  begin(range: Range, by: object, contentAt: (index: number) => Content | Source): void {
    const began = this.tick()
    this.each(range, (candidates, index) => {
      const content = contentAt(index)
      const [contents, source] = typeof content === 'number' ? [[content], undefined] : [[], content]
      candidates.push({ ...settled(contents, began, Infinity), source, by })
    })
  }

  /** Records that a change is complete: it has replaced the contents that ended before it began. */
  end(range: Range, by: object, isDurable = false): void {
    const now = this.tick()
    this.each(range, (candidates) => {
      const own = candidates.find((each) => each.by === by)
      if (own === undefined) return
      this.freeze(own)
      own.ended = now
      // The change may have been executed before the power loss, and lost by it.
      if (own.began < this.powerLost) return
      own.isDurable = isDurable
      for (const other of candidates) {
        if (other.ended < own.began && other.removed === Infinity) other.removed = now
      }
    })
  }

  /** Records that a change was not executed. */
  cancel(range: Range, by: object): void {
    this.each(range, (candidates) => {
      const at = candidates.findIndex((each) => each.by === by)
      if (at >= 0) candidates.splice(at, 1)
    })
  }

  /** Records that a change may have been executed, and will not be executed any more. */
  abandon(range: Range, by: object): void {
    const now = this.tick()
    this.each(range, (candidates) => {
      for (const each of candidates) {
        if (each.by !== by) continue
        this.freeze(each)
        each.ended = now
      }
    })
  }

  /** Records that a fault has damaged the data of a change in block `index` of its range. */
  damage(range: Range, by: object, index: number): void {
    this.each({ ...range, slba: range.slba + index, blocks: 1 }, (candidates) => {
      for (const each of candidates) if (each.by === by) each.contents = [ANY]
    })
  }

  /** Records that a namespace was formatted or created: every block reads as zeroes, even after a power loss. */
  erase(nsid: number): void {
    this.namespaces.delete(nsid)
  }

  /** Records that a namespace may have been formatted: every block may read as zeroes. */
  mayErase(nsid: number): void {
    const now = this.tick()
    for (const candidates of this.blocksOf(nsid).values()) candidates.push(settled([ZEROES], now, now))
  }

  /** Records that a Flush, submitted at `began`, is complete: earlier changes survive a power loss. */
  flush(nsid: number, began: number): void {
    this.flushed.set(nsid, Math.max(began, this.flushed.get(nsid) ?? 0))
  }

  /** Records a power loss: contents that were replaced since the last Flush may return. */
  losePower(): void {
    this.powerLost = this.tick()
    for (const [nsid, blocks] of this.namespaces) {
      const flushed = this.flushed.get(nsid) ?? 0
      for (const candidates of blocks.values()) {
        const isReplaced = ({ ended }: Candidate) =>
          candidates.some((other) => other.isDurable && other.ended !== Infinity && ended < other.began)
        for (const each of candidates) {
          if (each.removed !== Infinity && each.removed > flushed && !isReplaced(each)) each.removed = Infinity
        }
      }
    }
  }

  /** Returns the contents that a command, submitted at `began` and completed now, may have found in a block. */
  possibleContents(nsid: number, lba: number, began: number): Content[] {
    const found: Content[] = []
    this.collect(nsid, lba, began, found)
    return found
  }

  /** Returns the number of commands that may have written a content to a block. */
  writers(nsid: number, lba: number, content: Content): number {
    const has = (each: Candidate) => {
      const contents: Content[] = []
      this.collectFrom(each, contents)
      return contents.includes(content) || contents.includes(ANY)
    }
    return this.at(nsid, lba).filter(has).length
  }

  private collect(nsid: number, lba: number, began: number, found: Content[], except?: object): void {
    for (const each of this.at(nsid, lba)) {
      if (each.removed > began && (except === undefined || each.by !== except)) this.collectFrom(each, found)
    }
  }

  private collectFrom(candidate: Candidate, found: Content[]): void {
    const { source, contents, began, isVisited, by } = candidate
    for (const content of contents) found.push(content)
    if (source === undefined || isVisited) return
    candidate.isVisited = true
    this.collect(source.nsid, source.lba, began, found, by)
    candidate.isVisited = false
  }

  /** Fixes the possible contents of a Copy, which will not read its source any more. */
  private freeze(candidate: Candidate): void {
    if (candidate.source === undefined) return
    const found: Content[] = []
    this.collectFrom(candidate, found)
    // A Copy of an unreadable block fails.
    candidate.contents = [...new Set(found)].filter((content) => content !== UNREADABLE)
    candidate.source = undefined
  }

  private each({ nsid, slba, blocks }: Range, visit: (candidates: Candidate[], index: number) => void): void {
    for (let index = 0; index < blocks; index++) visit(this.at(nsid, slba + index), index)
  }

  private blocksOf(nsid: number): Map<number, Candidate[]> {
    let blocks = this.namespaces.get(nsid)
    if (blocks === undefined) this.namespaces.set(nsid, (blocks = new Map<number, Candidate[]>()))
    return blocks
  }

  private at(nsid: number, lba: number): Candidate[] {
    const blocks = this.blocksOf(nsid)
    let candidates = blocks.get(lba)
    if (candidates === undefined) blocks.set(lba, (candidates = [settled([ZEROES], 0, 0)]))
    return candidates
  }
}

function settled(contents: readonly Content[], began: number, ended: number): Candidate {
  const rest = { source: undefined, removed: Infinity, isDurable: false, by: undefined, isVisited: false }
  return { contents, began, ended, ...rest }
}
