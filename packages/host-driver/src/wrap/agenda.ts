import type { Clock } from '@gpunvme/nvme-spec/transport'

interface Item {
  readonly atNs: number
  readonly action: () => void
}

/**
 * What is to happen later, for a wrapper, which has no thread and no timer: it happens when the host next looks, and a
 * host that waits is woken for it.
 */
export class Agenda {
  private readonly clock: Clock
  private items: readonly Item[] = []

  constructor(clock: Clock) {
    this.clock = clock
  }

  /** When the next thing is due; Infinity for never. */
  get nextNs(): number {
    return this.items[0]?.atNs ?? Infinity
  }

  /** What is due at one time happens in the order in which it was added. */
  add(atNs: number, action: () => void): void {
    const before = this.items.filter((item) => item.atNs <= atNs)
    this.items = [...before, { atNs, action }, ...this.items.slice(before.length)]
  }

  /** Does everything whose time has come. */
  catchUp(): void {
    for (let [first, ...rest] = this.items; first && first.atNs <= this.clock.now(); [first, ...rest] = this.items) {
      this.items = rest
      first.action()
    }
  }

  /** As the clock's own, and no longer than to what is due next. */
  async idle(untilNs: number): Promise<void> {
    this.catchUp()
    await this.clock.idle(Math.min(untilNs, this.nextNs))
    this.catchUp()
  }
}
