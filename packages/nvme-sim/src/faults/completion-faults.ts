import { CQE, STATUS } from '@gpunvme/nvme-spec'
import type { ActionOf, MatchedFaults } from '@gpunvme/nvme-spec/faults'
import type { Ended } from '../controller/command.js'
import type { Completion, CompletionQueue, CqeDamage } from '../queues/queue.js'
import type { Faults } from './fault.js'

/** Returns the status that a fault of the plan gives a command. */
export function statusByPlan({ sct, sc, dnr = false }: ActionOf<'status'>): Ended {
  // A false success: no error is logged, so More announces none.
  if (sct === 0 && sc === 0) return STATUS.SUCCESS
  return { sct, sc, name: 'by a fault of the plan', retry: dnr ? 'never' : 'same' }
}

/** Applies faults of the plan to the entry of a completion. */
export function damageCompletion(completion: Completion, matched: MatchedFaults, faults: Faults): void {
  const byPlan = matched.get('status')
  if (byPlan)
    completion.status |= ((byPlan.crd ?? 0) << CQE.STATUS.CRD.lsb) | ((byPlan.more ? 1 : 0) << CQE.STATUS.M.lsb)
  completion.cid ^= matched.get('corrupt-cid')?.xor ?? 0
  completion.damage = cqeDamage(matched)
  for (const kind of ['corrupt-cid', 'corrupt-sqhd', 'corrupt-sqid', 'corrupt-phase'] as const) {
    faults.record(matched, kind)
  }
}

/** Returns the damage to the fields that the queue itself fills in; undefined for none. */
function cqeDamage(matched: MatchedFaults): CqeDamage | undefined {
  const sqhd = matched.get('corrupt-sqhd')?.xor ?? 0
  const sqid = matched.get('corrupt-sqid')?.xor ?? 0
  const phase = matched.has('corrupt-phase') ? 1 : 0
  return sqhd | sqid | phase ? { sqhd, sqid, phase } : undefined
}

interface Late {
  readonly cq: CompletionQueue
  readonly release: () => void
  left: number
}

/** Completions that wait until others of their queue were posted. */
export class LateCompletions {
  private waiting: Late[] = []

  get isEmpty(): boolean {
    return this.waiting.length === 0
  }

  /** Calls `finish` after `behind` more entries of `cq`, or when the returned function is called. */
  hold(cq: CompletionQueue, finish: () => void, behind: number): () => void {
    let isOpen = true
    const release = () => {
      // The slot may serve another command when the time limit of an already released completion is reached.
      if (!isOpen) return
      isOpen = false
      this.waiting = this.waiting.filter((other) => other !== late)
      finish()
    }
    const late: Late = { cq, left: behind, release }
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
