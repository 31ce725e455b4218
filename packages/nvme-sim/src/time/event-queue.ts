import { DueEvents } from './due-events.js'

/**
 * What is to happen, in order of time and, within an instant, in order of scheduling: that order makes a run
 * repeatable. A binary heap in parallel arrays, so that an event costs no object, with what is due already beside it.
 */
export class EventQueue {
  private readonly due = new DueEvents()
  private readonly times: number[] = []
  private readonly sequences: number[] = []
  private readonly actions: (() => void)[] = []
  private length = 0
  private sequence = 0

  /** When the next event is due; Infinity where there is none. */
  get nextNs(): number {
    const { due } = this
    const heapNs = this.length === 0 ? Infinity : this.times[0]!
    return due.isEmpty || due.firstNs > heapNs ? heapNs : due.firstNs
  }

  /** For what is to happen at once. `nowNs` never falls from one call to the next. */
  pushDue(nowNs: number, action: () => void): void {
    this.due.push(nowNs, this.sequence++, action)
  }

  /** @throws RangeError for a time that is no number, or is not exact: it would spoil the order of all others. */
  push(atNs: number, action: () => void): void {
    // What is not a number fails every comparison.
    if (!(atNs <= Number.MAX_SAFE_INTEGER)) throw new RangeError(`schedule: expected a time below 2^53 ns, got ${atNs}`)
    const { times, sequences, actions } = this
    let hole = this.length++
    while (hole > 0) {
      const parent = (hole - 1) >> 1
      // What was scheduled before goes first among equals.
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

  /** Takes the next event's action out. There must be one. */
  pop(): () => void {
    const { due } = this
    if (due.isEmpty) return this.popHeap()
    return this.length > 0 && this.isBefore(0, due.firstNs, due.firstSequence) ? this.popHeap() : due.shift()
  }

  /** Takes the next event's action out where it is due by `nowNs`. */
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
    // The slot is kept for the next event, and holds on to nothing until then.
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
