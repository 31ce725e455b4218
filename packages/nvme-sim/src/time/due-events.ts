/**
 * Events that are already due, in order of scheduling: most events of a drive without costs. A ring in parallel arrays,
 * so that an event takes neither an object nor a search for its place.
 */
export class DueEvents {
  private times: number[] = new Array<number>(FIRST_ROOM).fill(0)
  private sequences: number[] = new Array<number>(FIRST_ROOM).fill(0)
  private actions: (() => void)[] = new Array<() => void>(FIRST_ROOM).fill(nothing)
  private first = 0
  private count = 0

  get isEmpty(): boolean {
    return this.count === 0
  }

  /** Time of the first event. The ring must not be empty. */
  get firstNs(): number {
    return this.times[this.first]!
  }

  /** The ring must not be empty. */
  get firstSequence(): number {
    return this.sequences[this.first]!
  }

  /** `atNs` must not be earlier than that of any event before. */
  push(atNs: number, sequence: number, action: () => void): void {
    if (this.count === this.times.length) this.grow()
    const at = (this.first + this.count++) & (this.times.length - 1)
    this.times[at] = atNs
    this.sequences[at] = sequence
    this.actions[at] = action
  }

  /** Removes the first event and returns its action. The ring must not be empty. */
  shift(): () => void {
    const { first, actions } = this
    const action = actions[first]!
    actions[first] = nothing
    this.first = (first + 1) & (this.times.length - 1)
    this.count--
    return action
  }

  /** Doubles the capacity, which stays a power of two, with the first event in front. */
  private grow(): void {
    const turned = <T>(ring: T[], empty: T): T[] => [
      ...ring.slice(this.first),
      ...ring.slice(0, this.first),
      ...new Array<T>(ring.length).fill(empty),
    ]
    this.times = turned(this.times, 0)
    this.sequences = turned(this.sequences, 0)
    this.actions = turned(this.actions, nothing)
    this.first = 0
  }
}

const FIRST_ROOM = 64

function nothing(): void {}
