import type { Ended, ServedCommand } from '../controller/command.js'
import type { CompletionQueue, CqeDamage } from '../queues/queue.js'
import type { ActionOf, Struck } from './struck.js'

/** The status that a command ends with by a fault of the plan. */
export function statusByPlan({ sct, sc }: ActionOf<'status'>): Ended {
  return { sct, sc, name: 'by a fault of the plan' }
}

export function damagedCid(cid: number, struck: Struck): number {
  return cid ^ (struck.get('corrupt-cid')?.xor ?? 0)
}

/** What else is wrong in the entry; undefined for nothing. */
export function cqeDamage(struck: Struck): CqeDamage | undefined {
  const sqhd = struck.get('corrupt-sqhd')?.xor ?? 0
  const sqid = struck.get('corrupt-sqid')?.xor ?? 0
  const phase = struck.has('corrupt-phase') ? 1 : 0
  return sqhd | sqid | phase ? { sqhd, sqid, phase } : undefined
}

interface Late {
  readonly cq: CompletionQueue
  readonly release: () => void
  left: number
}

/** Completions that wait until others of their queue went by. */
export class LateCompletions {
  private waiting: Late[] = []

  get isEmpty(): boolean {
    return this.waiting.length === 0
  }

  /** Finishes the command after `behind` more entries of its completion queue, or when what is returned is called. */
  hold(command: ServedCommand, behind: number): () => void {
    let isOpen = true
    const release = () => {
      // The slot may serve another command when the time comes for one that the count has released.
      if (!isOpen) return
      isOpen = false
      this.waiting = this.waiting.filter((other) => other !== late)
      command.finish()
    }
    const late: Late = { cq: command.sq.cq, left: behind, release }
    this.waiting.push(late)
    return release
  }

  /** An entry was posted to `cq`. */
  posted(cq: CompletionQueue): void {
    for (const late of this.waiting) if (late.cq === cq) late.left--
    for (const late of this.waiting.filter(({ left }) => left <= 0)) late.release()
  }

  clear(): void {
    this.waiting = []
  }
}
