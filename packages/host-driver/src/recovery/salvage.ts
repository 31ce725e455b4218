import type { Bar, Clock, QueuePairMemory } from '@gpunvme/nvme-spec/transport'
import { isReadable } from '../memory/reachable.js'
import { CompletionRing } from '../queues/completion-ring.js'
import type { OverdueCommand } from '../queues/overdue.js'
import { QueuePair } from '../queues/queue-pair.js'

/** Whoever stages nothing gets no completions. */
const NOBODY = { completed: () => undefined }

/**
 * Looks through queues that nobody uses at the moment for completions of commands that were given up: one that comes
 * late still tells what became of its command. In memory that the driver cannot look at it finds nothing.
 */
export class Salvage {
  private readonly rings: readonly CompletionRing[]

  constructor(queues: readonly QueuePairMemory[], bar: Bar, overdue: readonly OverdueCommand[]) {
    const readable = queues.filter(({ cq }) => isReadable(cq.memory))
    const rings = new Map(readable.map(({ cq }) => [cq, new CompletionRing(cq, bar)]))
    for (const memory of readable) {
      const pair = new QueuePair(memory, bar, rings.get(memory.cq)!, NOBODY)
      for (const command of overdue) if (command.qid === memory.qid) pair.expect(command)
    }
    this.rings = [...rings.values()]
  }

  poll(): void {
    for (const ring of this.rings) ring.poll()
  }

  /** Polls until all of `overdue` have completed; false when `deadlineNs` came first. */
  async wait(clock: Clock, deadlineNs: number, overdue: readonly OverdueCommand[]): Promise<boolean> {
    for (;;) {
      this.poll()
      if (overdue.every(({ completion }) => completion !== undefined)) return true
      if (clock.now() >= deadlineNs) return false
      await clock.idle(deadlineNs)
    }
  }
}
