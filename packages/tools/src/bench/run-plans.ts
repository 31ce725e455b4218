import { throwOnFailure, type Namespace } from '@gpunvme/host-driver'
import type { DmaMemory, Plan } from '@gpunvme/nvme-spec/transport'
import type { PlanRing } from './plan-ring.js'
import { ToolsError } from '../command-line/tools-error.js'

/** So many plans in a row that take no time, and none will: then there is nothing to divide by. */
const PLANS_WITHOUT_TIME = 64

/** What was done, from the first submission with empty queues to the last completion. */
export interface Run {
  readonly bytes: number
  readonly commands: number
  readonly plans: number
  readonly startNs: number
  readonly endNs: number
  /** Bytes whose plans ended before half of the time that was asked for, and after it. */
  readonly halves: readonly [first: number, second: number]
}

export interface RunOptions {
  readonly seconds: number
  readonly signal: AbortSignal
  /** Is told of each plan that ended: how long it had the queues, from the end of the one before. */
  readonly onPlan?: (durationNs: number) => void
}

/**
 * Keeps the plans of a ring under way until the time is up; what is under way then is waited for, and counts.
 * @throws TransferError for the first command that fails; NoTimeError; the signal's reason. Nothing is under way then.
 */
export async function runPlans(
  namespace: Namespace,
  memory: DmaMemory,
  ring: PlanRing,
  { seconds, signal, onPlan }: RunOptions,
): Promise<Run> {
  const { clock } = namespace
  const startNs = clock.now()
  const untilNs = startNs + seconds * 1e9
  const halfNs = startNs + seconds * 5e8
  const halves: [number, number] = [0, 0]
  let endNs = startNs
  let [bytes, commands, plans] = [0, 0, 0]
  let failed = false
  const keepGoing = async (plan: Plan) => {
    while (!failed && clock.now() < untilNs) {
      signal.throwIfAborted()
      ring.fill(plan)
      const summary = await namespace.execute(plan, memory, { signal })
      throwOnFailure(plan, summary, { signal })
      onPlan?.(summary.endNs - Math.max(endNs, summary.startNs))
      endNs = Math.max(endNs, summary.endNs)
      bytes += summary.bytes
      commands += summary.succeeded
      halves[summary.endNs <= halfNs ? 0 : 1] += summary.bytes
      if (++plans >= PLANS_WITHOUT_TIME && endNs === startNs) throw new NoTimeError()
    }
  }
  const lanes = ring.plans.map((plan) =>
    keepGoing(plan).catch((error: unknown) => {
      failed = true
      throw error
    }),
  )
  // All of them, also where one fails: nothing touches the memory after this has ended.
  for (const ended of await Promise.allSettled(lanes)) if (ended.status === 'rejected') throw ended.reason
  return { bytes, commands, plans, startNs, endNs, halves }
}

/** The drive's clock does not move: its profile costs nothing. */
export class NoTimeError extends ToolsError {
  readonly code = 'ERR_GPUNVME_BENCH_NO_TIME'
  readonly category = 'infeasible'
  constructor() {
    super('Nothing to measure: reads and writes of this drive take no time', {
      next: '--profile sn740, or another one that models a drive; ideal costs nothing',
    })
  }
}
