/**
 * A set of logical blocks, as ordered ranges that do not touch. The cost of an operation depends on how many ranges it
 * touches, hardly on how many there are: a host may mark every other block of a drive.
 */
export class LbaRanges {
  /** First and end of each range, alternating: strictly increasing. */
  private readonly bounds: number[] = []
  /** Number of blocks in the set, which is an upper bound of its ranges. */
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

  /** Returns how many of `count` blocks from `first` are in the set. */
  countIn(first: number, count: number): number {
    const { bounds } = this
    const end = first + count
    let found = 0
    for (let i = this.rangeWith(this.countBelow(first + 1)); i < bounds.length && bounds[i]! < end; i += 2) {
      found += Math.min(bounds[i + 1]!, end) - Math.max(bounds[i]!, first)
    }
    return found
  }

  /** Returns first block and number of blocks of each range, alternating. */
  list(): number[] {
    return this.bounds.map((bound, i) => (i % 2 === 0 ? bound : bound - this.bounds[i - 1]!))
  }

  /** Replaces the ranges from bound `from` to before bound `to`. */
  private replace(from: number, to: number, ranges: readonly number[]): void {
    // oxlint-disable-next-line gpunvme/no-unbounded-spread -- at most two ranges
    const before = this.bounds.splice(from, to - from, ...ranges)
    this.count += lengthOf(ranges) - lengthOf(before)
  }

  /** Returns the index in `bounds` where the range of a bound begins. */
  private rangeWith(bound: number): number {
    return bound - (bound % 2)
  }

  /** Returns the index of the range that a bound begins, or of the range after the one it ends. */
  private rangeBehind(bound: number): number {
    return bound + (bound % 2)
  }

  /** Returns how many bounds are less than `lba`. */
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
