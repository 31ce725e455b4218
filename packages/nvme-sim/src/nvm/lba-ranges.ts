/** A set of logical blocks, as ranges that do not touch, in order: what Write Uncorrectable has marked is few and long. */
export class LbaRanges {
  /** First and end of each range in turn. */
  private bounds: number[] = []

  get isEmpty(): boolean {
    return this.bounds.length === 0
  }

  add(first: number, count: number): void {
    this.replace(first, count, true)
  }

  remove(first: number, count: number): void {
    this.replace(first, count, false)
  }

  clear(): void {
    this.bounds = []
  }

  /** Whether any of `count` blocks from `first` is in the set. */
  overlaps(first: number, count: number): boolean {
    const { bounds } = this
    for (let i = 0; i < bounds.length; i += 2) {
      if (bounds[i]! < first + count && bounds[i + 1]! > first) return true
    }
    return false
  }

  private replace(first: number, count: number, isIn: boolean): void {
    const end = first + count
    const { bounds } = this
    const next: number[] = []
    let [from, to] = [first, end]
    for (let i = 0; i < bounds.length; i += 2) {
      const [start, stop] = [bounds[i]!, bounds[i + 1]!]
      const isApart = isIn ? stop < first || start > end : stop <= first || start >= end
      if (isApart) next.push(start, stop)
      else if (isIn) [from, to] = [Math.min(from, start), Math.max(to, stop)]
      else {
        if (start < first) next.push(start, first)
        if (stop > end) next.push(end, stop)
      }
    }
    if (isIn) next.push(from, to)
    this.bounds = inOrder(next)
  }
}

function inOrder(bounds: readonly number[]): number[] {
  const starts = bounds.filter((_, index) => index % 2 === 0).map((start, index) => [start, bounds[index * 2 + 1]!])
  return starts.sort((a, b) => a[0]! - b[0]!).flat()
}
