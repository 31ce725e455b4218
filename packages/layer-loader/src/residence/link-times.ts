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

/** Intervals end in order, and one that has ended long ago overlaps with no new one. */
const REMEMBERED = 64

/** Adds up the intervals in which links were busy; those of one link do not overlap. */
export class LinkTimesCounter {
  private readonly times = { driveBusyNs: 0, copyBusyNs: 0, bothBusyNs: 0 }
  private readonly recent: Record<'drive' | 'copy', Interval[]> = { drive: [], copy: [] }

  get snapshot(): LinkTimes {
    return { ...this.times }
  }

  /** Counts an interval that has just ended. */
  add(link: 'drive' | 'copy', interval: Interval): void {
    const { times, recent } = this
    const { startNs, endNs } = interval
    times[`${link}BusyNs`] += endNs - startNs
    for (const other of recent[link === 'drive' ? 'copy' : 'drive']) {
      times.bothBusyNs += Math.max(0, Math.min(endNs, other.endNs) - Math.max(startNs, other.startNs))
    }
    recent[link] = [...recent[link].slice(1 - REMEMBERED), interval]
  }
}
