import { ServedCommand, type Steps } from './command.js'

/** The controller's command slots, which limit the number of commands in progress. */
export class Slots {
  private readonly most: number
  private readonly steps: Steps
  private all: ServedCommand[] = []
  private free: ServedCommand[] = []

  constructor(max: number, steps: Steps) {
    this.most = max
    this.steps = steps
  }

  /** Returns a free slot, or undefined. */
  take(): ServedCommand | undefined {
    const slot = this.free.pop()
    return slot !== undefined || this.all.length >= this.most ? slot : this.add()
  }

  /**
   * Returns a slot even if none is free, for commands that must not wait: the second half of a fused operation, and an
   * Abort. The extra slot is dropped when its command ends.
   */
  allocateOverflow(): ServedCommand {
    return this.free.pop() ?? this.add()
  }

  /** Releases a slot for reuse after its command has ended. */
  putBack(slot: ServedCommand): void {
    slot.isBusy = false
    if (this.all.length > this.most) this.all = this.all.filter((other) => other !== slot)
    else this.free.push(slot)
  }

  /** Drops the slot of an aborted command. It is never reused, since scheduled steps may still refer to it. */
  discard(slot: ServedCommand): void {
    slot.isAborted = true
    this.all = this.all.filter((other) => other !== slot)
  }

  /** Drops all slots. */
  clear(): void {
    for (const slot of this.all) slot.isAborted = true
    this.all = []
    this.free = []
  }

  /** Returns a new list of the commands in progress. */
  busy(): ServedCommand[] {
    return this.all.filter(({ isBusy }) => isBusy)
  }

  private add(): ServedCommand {
    const fresh = new ServedCommand(this.steps)
    this.all.push(fresh)
    return fresh
  }
}
