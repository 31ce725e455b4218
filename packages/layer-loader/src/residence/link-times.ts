/** Time for which each of two links, and both at once, were busy, by the source's clock. */
export interface LinkTimes {
  readonly driveBusyNs: number
  /**
   * Time with copies to the GPU. In tier 2, writes of the drive to GPU memory use the same link but count as the
   * drive's.
   */
  readonly copyBusyNs: number
  readonly bothBusyNs: number
}

interface Interval {
  readonly startNs: number
  readonly endNs: number
}

/** Number of intervals kept: older ones cannot overlap new ones. */
const REMEMBERED = 64

/** Adds up the busy time of each link. Overlapping intervals of one link count once. */
export class LinkTimesCounter {
  private readonly times = { driveBusyNs: 0, copyBusyNs: 0, bothBusyNs: 0 }
  /** Disjoint intervals of each link. */
  private readonly recent: Record<'drive' | 'copy', readonly Interval[]> = { drive: [], copy: [] }

  get snapshot(): LinkTimes {
    return { ...this.times }
  }

  /** Adds an interval that has just ended. */
  add(link: 'drive' | 'copy', interval: Interval): void {
    const { times, recent } = this
    const counted = recent[link].filter((other) => overlapNs(interval, other) > 0)
    const merged = counted.reduce(unionOf, interval)
    const added = (of: (interval: Interval) => number) => counted.reduce((rest, each) => rest - of(each), of(merged))
    times[`${link}BusyNs`] += added(({ startNs, endNs }) => endNs - startNs)
    for (const other of recent[link === 'drive' ? 'copy' : 'drive'])
      times.bothBusyNs += added((each) => overlapNs(each, other))
    const others = recent[link].filter((each) => !counted.includes(each))
    recent[link] = [...others.slice(1 - REMEMBERED), merged]
  }
}

function overlapNs(a: Interval, b: Interval): number {
  return Math.max(0, Math.min(a.endNs, b.endNs) - Math.max(a.startNs, b.startNs))
}

function unionOf(a: Interval, b: Interval): Interval {
  return { startNs: Math.min(a.startNs, b.startNs), endNs: Math.max(a.endNs, b.endNs) }
}
