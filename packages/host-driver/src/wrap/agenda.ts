import type { Clock } from '@gpunvme/nvme-spec/transport'

interface Item {
  readonly atNs: number
  readonly action: () => void
}

/**
 * Scheduled actions of a wrapper, which has neither a thread nor a timer: an action runs at the host's next access, and
 * a waiting host is woken for it.
 */
export class Agenda {
  private readonly clock: Clock
  private items: readonly Item[] = []

  constructor(clock: Clock) {
    this.clock = clock
  }

  /** Time of the next action; Infinity if there is none. */
  get nextNs(): number {
    return this.items[0]?.atNs ?? Infinity
  }

  /** Schedules an action. Actions for the same time run in the order in which they were added. */
  add(atNs: number, action: () => void): void {
    const before = this.items.filter((item) => item.atNs <= atNs)
    this.items = [...before, { atNs, action }, ...this.items.slice(before.length)]
  }

  /** Runs all due actions. */
  catchUp(): void {
    for (let [first, ...rest] = this.items; first && first.atNs <= this.clock.now(); [first, ...rest] = this.items) {
      this.items = rest
      first.action()
    }
  }

  /** Same as `idle` of the clock, but ends at the next action. */
  async idle(untilNs: number): Promise<void> {
    this.catchUp()
    await this.clock.idle(Math.min(untilNs, this.nextNs))
    this.catchUp()
  }
}
