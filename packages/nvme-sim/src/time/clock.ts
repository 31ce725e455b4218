import type { Clock } from '@gpunvme/nvme-spec/transport'

/** A clock whose time passes only while somebody waits: nothing here ever looks at the wall. */
export interface SimulationClock extends Clock {
  /** Runs `action` at `atNs`, or now if that has passed; actions of one instant run in the order they were scheduled. */
  schedule(atNs: number, action: () => void): void
}

interface Event {
  readonly atNs: number
  readonly sequence: number
  readonly action: () => void
}

/**
 * Virtual time: a heap of events keyed by time, then by the order of scheduling. That order makes a run repeatable.
 * Times are whole nanoseconds, so that no rounding of sums can change which of two events is first.
 */
export class VirtualClock implements SimulationClock {
  private readonly heap: Event[] = []
  private nowNs = 0
  private sequence = 0

  now(): number {
    return this.nowNs
  }

  schedule(atNs: number, action: () => void): void {
    const event = { atNs: Math.max(Math.ceil(atNs), this.nowNs), sequence: this.sequence++, action }
    const { heap } = this
    let hole = heap.length
    while (hole > 0) {
      const parent = (hole - 1) >> 1
      if (isBefore(heap[parent]!, event)) break
      heap[hole] = heap[parent]!
      hole = parent
    }
    heap[hole] = event
  }

  /**
   * Moves to the next event and runs everything of that instant, or moves to `untilNs` where no event comes before.
   * The promise is resolved already: waiting costs no timer and no trip through the event loop.
   * @throws RangeError for a wait without an end in which nothing can happen.
   */
  idle(untilNs: number): Promise<void> {
    const nextNs = this.heap[0]?.atNs ?? Infinity
    if (nextNs > untilNs) {
      this.nowNs = Math.max(this.nowNs, Math.floor(untilNs))
      return arrived
    }
    if (nextNs === Infinity) {
      throw new RangeError(`idle(${untilNs}): no event is scheduled, so this wait would never end`)
    }
    this.nowNs = nextNs
    while (this.heap[0]?.atNs === nextNs) this.take().action()
    return arrived
  }

  private take(): Event {
    const { heap } = this
    const first = heap[0]!
    const last = heap.pop()!
    const { length } = heap
    if (length === 0) return first
    let hole = 0
    for (let child = 1; child < length; child = 2 * hole + 1) {
      if (child + 1 < length && isBefore(heap[child + 1]!, heap[child]!)) child++
      if (isBefore(last, heap[child]!)) break
      heap[hole] = heap[child]!
      hole = child
    }
    heap[hole] = last
    return first
  }
}

const arrived = Promise.resolve()

function isBefore(a: Event, b: Event): boolean {
  return a.atNs < b.atNs || (a.atNs === b.atNs && a.sequence < b.sequence)
}
