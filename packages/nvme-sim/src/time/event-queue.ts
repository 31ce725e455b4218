import { DueEvents } from './due-events.js'

/**
 * Scheduled events in order of time and, within an instant, in order of scheduling, which makes runs repeatable. A
 * binary heap in parallel arrays, so that an event takes no object, beside a ring of events that are already due.
 */
export class EventQueue {
  private readonly due = new DueEvents()
  private readonly times: number[] = []
  private readonly sequences: number[] = []
  private readonly actions: (() => void)[] = []
  private length = 0
  private sequence = 0

  /** Time of the next event; Infinity if there is none. */
  get nextNs(): number {
    const { due } = this
    const heapNs = this.length === 0 ? Infinity : this.times[0]!
    return due.isEmpty || due.firstNs > heapNs ? heapNs : due.firstNs
  }

  /** Schedules an action to run at once. `nowNs` must never decrease between calls. */
  pushDue(nowNs: number, action: () => void): void {
    this.due.push(nowNs, this.sequence++, action)
  }

  /** @throws RangeError for a time that is not an exact number: it would break the order of all others. */
  push(atNs: number, action: () => void): void {
    // NaN fails every comparison.
    if (!(atNs <= Number.MAX_SAFE_INTEGER)) throw new RangeError(`schedule: expected a time below 2^53 ns, got ${atNs}`)
    const { times, sequences, actions } = this
    let hole = this.length++
    while (hole > 0) {
      const parent = (hole - 1) >> 1
      // Equal times keep the order of scheduling.
      if (times[parent]! <= atNs) break
      times[hole] = times[parent]!
      sequences[hole] = sequences[parent]!
      actions[hole] = actions[parent]!
      hole = parent
    }
    times[hole] = atNs
    sequences[hole] = this.sequence++
    actions[hole] = action
  }

  /** Removes the next event and returns its action. There must be one. */
  pop(): () => void {
    const { due } = this
    if (due.isEmpty) return this.popHeap()
    return this.length > 0 && this.isBefore(0, due.firstNs, due.firstSequence) ? this.popHeap() : due.shift()
  }

  /** Removes the next event and returns its action, if it is due by `nowNs`. */
  popUntil(nowNs: number): (() => void) | undefined {
    return this.nextNs <= nowNs ? this.pop() : undefined
  }

  private popHeap(): () => void {
    const { times, sequences, actions } = this
    const first = actions[0]!
    const last = --this.length
    const atNs = times[last]!
    const sequence = sequences[last]!
    const action = actions[last]!
    // The slot is kept for the next event, but releases its action.
    actions[last] = nothing
    if (last === 0) return first
    let hole = 0
    for (let child = 1; child < last; child = 2 * hole + 1) {
      if (child + 1 < last && this.isBefore(child + 1, times[child]!, sequences[child]!)) child++
      if (!this.isBefore(child, atNs, sequence)) break
      times[hole] = times[child]!
      sequences[hole] = sequences[child]!
      actions[hole] = actions[child]!
      hole = child
    }
    times[hole] = atNs
    sequences[hole] = sequence
    actions[hole] = action
    return first
  }

  private isBefore(index: number, atNs: number, sequence: number): boolean {
    const own = this.times[index]!
    return own < atNs || (own === atNs && this.sequences[index]! < sequence)
  }
}

function nothing(): void {}
