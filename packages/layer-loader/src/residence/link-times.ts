/** How long each of two links was busy, and both at once: times of the source's clock. */
export interface LinkTimes {
  readonly driveBusyNs: number
  /** With copies to the GPU. What the drive writes to it in tier 2 crosses the same link, and counts as the drive's. */
  readonly copyBusyNs: number
  readonly bothBusyNs: number
}

interface Interval {
  readonly startNs: number
  readonly endNs: number
}

/** An interval that ended long ago overlaps with no new one. */
const REMEMBERED = 64

/** Adds up the time in which each link was busy. Intervals of one link may overlap: each moment counts once. */
export class LinkTimesCounter {
  private readonly times = { driveBusyNs: 0, copyBusyNs: 0, bothBusyNs: 0 }
  /** Disjoint intervals of each link. */
  private readonly recent: Record<'drive' | 'copy', readonly Interval[]> = { drive: [], copy: [] }

  get snapshot(): LinkTimes {
    return { ...this.times }
  }

  /** Counts an interval that has just ended. */
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
