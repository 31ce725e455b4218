import type { Bar, QueuePairMemory } from '@gpunvme/nvme-spec/transport'
import { isReadable } from '../memory/reachable.js'
import { CompletionRing } from './completion-ring.js'
import type { OverdueCommand } from './queue-pair.js'

/**
 * Searches queues that are not in use for completions of commands that were given up: a late one still determines the
 * outcome of its command. Finds nothing in memory that the driver cannot read.
 */
export class Salvage {
  private readonly rings: readonly CompletionRing[]

  constructor(queues: readonly QueuePairMemory[], bar: Bar, overdue: readonly OverdueCommand[]) {
    const readable = queues.filter(({ cq }) => isReadable(cq.memory))
    const rings = new Map(readable.map(({ cq }) => [cq, new CompletionRing(cq, bar)]))
    for (const { qid, cq } of readable) {
      rings.get(cq)!.join(qid, {
        receive: (cid, status, dw0) => {
          const found = overdue.find((command) => command.qid === qid && command.cid === cid)
          // A second completion of a command does not count.
          if (found !== undefined) found.completion ??= { status, dw0 }
        },
      })
    }
    this.rings = [...rings.values()]
  }

  poll(): void {
    for (const ring of this.rings) ring.poll()
  }
}
