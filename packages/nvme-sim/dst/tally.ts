/** Counts the operations of a run by name: a campaign finds no defect in an operation that it never executes. */
export class Tally {
  private readonly counts = new Map<string, number>()

  /** Counts something once, or `times` times. */
  add(name: string, times = 1): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + times)
  }

  /** Adds the counts of another tally. */
  addAll(counts: Readonly<Record<string, number>>): void {
    for (const [name, times] of Object.entries(counts)) this.add(name, times)
  }

  /** The counts, in order of name. */
  get all(): Record<string, number> {
    return Object.fromEntries([...this.counts].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  }
}
