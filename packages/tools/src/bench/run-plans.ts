import { throwOnFailure, type Namespace } from '@gpunvme/host-driver'
import type { DmaMemory, Plan } from '@gpunvme/nvme-spec/transport'
import type { PlanRing } from './plan-ring.js'
import { ToolsError } from '../command-line/tools-error.js'

/** After this many consecutive plans without elapsed time, the clock is assumed not to move. */
const PLANS_WITHOUT_TIME = 64

/** Totals, from the first submission with empty queues to the last completion. */
export interface Run {
  readonly bytes: number
  readonly commands: number
  readonly plans: number
  readonly startNs: number
  readonly endNs: number
  /** Bytes of plans that ended in the first half of the requested time, and later. */
  readonly halves: readonly [first: number, second: number]
}

export interface RunOptions {
  readonly seconds: number
  readonly signal: AbortSignal
  /** Called for each completed plan, with the time since the end of the previous one. */
  readonly onPlan?: (durationNs: number) => void
}

/**
 * Keeps the plans of a ring in flight until the time is up, then waits for the rest, which counts.
 * @throws TransferError for the first failed command; ToolsError (BENCH_NO_TIME); the signal's reason. Then no command is in flight.
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
      if (++plans >= PLANS_WITHOUT_TIME && endNs === startNs)
        throw new ToolsError(
          'ERR_GPUNVME_BENCH_NO_TIME',
          'infeasible',
          'Nothing to measure: reads and writes of this drive take no time',
          {
            next: 'use --profile sn740 or another drive; ideal has no latency',
          },
        )
    }
  }
  const lanes = ring.plans.map((plan) =>
    keepGoing(plan).catch((error: unknown) => {
      failed = true
      throw error
    }),
  )
  // Waits for all lanes even if one fails: nothing may touch the memory after the return.
  for (const ended of await Promise.allSettled(lanes)) if (ended.status === 'rejected') throw ended.reason
  return { bytes, commands, plans, startNs, endNs, halves }
}
