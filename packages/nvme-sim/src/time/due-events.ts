/**
 * What is due already, in order of scheduling: most events of a drive that costs no time. A ring in parallel arrays, so
 * that an event costs neither an object nor a search for its place.
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

  /** When the first was due. There must be one. */
  get firstNs(): number {
    return this.times[this.first]!
  }

  /** There must be one. */
  get firstSequence(): number {
    return this.sequences[this.first]!
  }

  /** `atNs` is no earlier than that of any before. */
  push(atNs: number, sequence: number, action: () => void): void {
    if (this.count === this.times.length) this.grow()
    const at = (this.first + this.count++) & (this.times.length - 1)
    this.times[at] = atNs
    this.sequences[at] = sequence
    this.actions[at] = action
  }

  /** Takes the first one's action out. There must be one. */
  shift(): () => void {
    const { first, actions } = this
    const action = actions[first]!
    actions[first] = nothing
    this.first = (first + 1) & (this.times.length - 1)
    this.count--
    return action
  }

  /** To twice the room, a power of two as before, with the first one in front. */
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
