/** Counts the successful operations of a run by name, to show which operations a campaign executes. */
export class Tally {
  private readonly counts = new Map<string, number>()

  /** Adds `times` to the count of a name. */
  add(name: string, times = 1): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + times)
  }

  /** Adds the counts of another tally. */
  addAll(counts: Readonly<Record<string, number>>): void {
    for (const [name, times] of Object.entries(counts)) this.add(name, times)
  }

  /** Counts by name, in alphabetical order. */
  get all(): Record<string, number> {
    return Object.fromEntries([...this.counts].toSorted(([a], [b]) => (a < b ? -1 : 1)))
  }
}
