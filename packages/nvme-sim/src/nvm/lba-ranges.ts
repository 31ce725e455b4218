/**
 * A set of logical blocks, as ranges that do not touch, in order. What it costs follows from how many ranges an
 * operation touches, and hardly from how many there are: a host may mark every other block of a drive.
 */
export class LbaRanges {
  /** First and end of each range in turn: every number is greater than the one before. */
  private readonly bounds: number[] = []
  /** How many blocks are in the set: it has no more ranges than that. */
  count = 0

  get isEmpty(): boolean {
    return this.bounds.length === 0
  }

  add(first: number, count: number): void {
    const { bounds } = this
    const end = first + count
    // From the first range that ends at `first` or later to the last that begins at `end` or earlier.
    const from = this.rangeWith(this.countBelow(first))
    const to = this.rangeBehind(this.countBelow(end + 1))
    if (from === to) this.replace(from, to, [first, end])
    else this.replace(from, to, [Math.min(first, bounds[from]!), Math.max(end, bounds[to - 1]!)])
  }

  remove(first: number, count: number): void {
    const { bounds } = this
    const end = first + count
    const from = this.rangeWith(this.countBelow(first + 1))
    const to = this.rangeBehind(this.countBelow(end))
    if (count === 0 || from === to) return
    const rest: number[] = []
    if (bounds[from]! < first) rest.push(bounds[from]!, first)
    if (bounds[to - 1]! > end) rest.push(end, bounds[to - 1]!)
    this.replace(from, to, rest)
  }

  clear(): void {
    this.bounds.length = 0
    this.count = 0
  }

  /** Whether any of `count` blocks from `first` is in the set. */
  overlaps(first: number, count: number): boolean {
    const from = this.rangeWith(this.countBelow(first + 1))
    return from < this.bounds.length && this.bounds[from]! < first + count
  }

  /** How many of `count` blocks from `first` are in the set. */
  countIn(first: number, count: number): number {
    const { bounds } = this
    const end = first + count
    let found = 0
    for (let i = this.rangeWith(this.countBelow(first + 1)); i < bounds.length && bounds[i]! < end; i += 2) {
      found += Math.min(bounds[i + 1]!, end) - Math.max(bounds[i]!, first)
    }
    return found
  }

  /** First block and number of blocks of each range in turn. */
  list(): number[] {
    return this.bounds.map((bound, i) => (i % 2 === 0 ? bound : bound - this.bounds[i - 1]!))
  }

  /** Puts other ranges where those from the bound `from` to that before `to` are. */
  private replace(from: number, to: number, ranges: readonly number[]): void {
    // At most two ranges.
    // eslint-disable-next-line gpunvme/no-unbounded-spread
    const before = this.bounds.splice(from, to - from, ...ranges)
    this.count += lengthOf(ranges) - lengthOf(before)
  }

  /** Where the range of a bound begins in `bounds`. */
  private rangeWith(bound: number): number {
    return bound - (bound % 2)
  }

  /** Where the range begins that a bound begins, or the range behind the one that it ends. */
  private rangeBehind(bound: number): number {
    return bound + (bound % 2)
  }

  /** How many bounds are less than `lba`. */
  private countBelow(lba: number): number {
    const { bounds } = this
    let low = 0
    let high = bounds.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (bounds[middle]! < lba) low = middle + 1
      else high = middle
    }
    return low
  }
}

function lengthOf(bounds: readonly number[]): number {
  return bounds.reduce((sum, bound, i) => (i % 2 === 0 ? sum - bound : sum + bound), 0)
}
