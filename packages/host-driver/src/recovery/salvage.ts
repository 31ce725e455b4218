import type { Bar, Clock, QueuePairMemory } from '@gpunvme/nvme-spec/transport'
import { isReadable } from '../memory/reachable.js'
import { CompletionRing } from '../queues/completion-ring.js'
import type { OverdueCommand } from '../queues/overdue.js'
import { QueuePair } from '../queues/queue-pair.js'

/** Receives the completions of a queue on which nothing is staged: there are none. */
const NOBODY = { completed: () => undefined }

/**
 * Searches queues that are not in use for completions of commands that were given up: a late one still determines the
 * outcome of its command. Finds nothing in memory that the driver cannot read.
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

  /** Polls until all of `overdue` have completed; returns false at `deadlineNs`. */
  async wait(clock: Clock, deadlineNs: number, overdue: readonly OverdueCommand[]): Promise<boolean> {
    for (;;) {
      this.poll()
      if (overdue.every(({ completion }) => completion !== undefined)) return true
      if (clock.now() >= deadlineNs) return false
      await clock.idle(deadlineNs)
    }
  }
}
