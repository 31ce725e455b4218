import { ServedCommand, type Steps } from './command.js'

/** The controller's command slots: as many commands as it works on at a time. */
export class Slots {
  private readonly most: number
  private readonly steps: Steps
  private all: ServedCommand[] = []
  private free: ServedCommand[] = []

  constructor(most: number, steps: Steps) {
    this.most = most
    this.steps = steps
  }

  /** A free slot, or undefined where none is. */
  take(): ServedCommand | undefined {
    const slot = this.free.pop()
    return slot !== undefined || this.all.length >= this.most ? slot : this.add()
  }

  /**
   * A slot even where none is free: the second half of a fused operation cannot wait for one that the first holds, and
   * an Abort not for one that a command in need of it holds. It is gone when its command is over.
   */
  takeAnyway(): ServedCommand {
    return this.free.pop() ?? this.add()
  }

  /** Takes a slot back whose command is over, to be used again. */
  putBack(slot: ServedCommand): void {
    slot.isBusy = false
    if (this.all.length > this.most) this.all = this.all.filter((other) => other !== slot)
    else this.free.push(slot)
  }

  /** Gives up a slot whose command was aborted: steps of it may still come due, so it is never used again. */
  discard(slot: ServedCommand): void {
    slot.isAborted = true
    this.all = this.all.filter((other) => other !== slot)
  }

  /** Gives up every slot. */
  clear(): void {
    for (const slot of this.all) slot.isAborted = true
    this.all = []
    this.free = []
  }

  /** The commands under way, as a list of its own. */
  busy(): ServedCommand[] {
    return this.all.filter(({ isBusy }) => isBusy)
  }

  private add(): ServedCommand {
    const fresh = new ServedCommand(this.steps)
    this.all.push(fresh)
    return fresh
  }
}
