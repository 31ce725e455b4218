import { makeScenario } from './make-scenario.js'
import type { Worst } from './calls-in-progress.js'
import { runScenario, runTwice } from './run.js'
import { REPLAY_INTERVAL, runSeeds, type CampaignResult, type Seeds } from '@gpunvme/nvme-sim/dst'
import type { DriverUnderTest } from '../conformance/driver.js'

/** Statistics and failures of a driver campaign. They contain no wall times, so they are the same on every machine. */
export interface DriverCampaignResult extends CampaignResult {
  /** Number of times that a controller was declared lost. */
  readonly lost: number
  /** Number of seeds that were skipped because the driver does not support their options. */
  readonly skipped: number
  /** Longest durations by kind of fault, of runs with one kind of fault; `none` for runs without faults. */
  readonly worst: Readonly<Record<string, Worst>>
}

/** Runs one scenario per seed on the driver. */
export async function runDriverCampaign(driver: DriverUnderTest, seeds: Seeds): Promise<DriverCampaignResult> {
  const worst = new Map<string, Worst>()
  let [lost, skipped] = [0, 0]
  const result = await runSeeds(seeds, async (seed) => {
    const scenario = makeScenario(seed)
    const run = await (seed % REPLAY_INTERVAL === 0 ? runTwice : runScenario)(scenario, driver)
    lost += run.lost
    if (!run.isApplicable) skipped++
    const kinds = Object.keys(run.injected)
    // These operations may themselves be the cause of a long call, so such runs are left out of `worst`.
    const isDisturbed = ['reset', 'loss of power', 'format'].some((name) => name in run.done)
    if (kinds.length <= 1 && !isDisturbed) {
      const kind = kinds[0] ?? 'none'
      const { callNs, stepNs, share } = worst.get(kind) ?? { callNs: 0, stepNs: 0, share: 0 }
      worst.set(kind, {
        callNs: Math.max(callNs, run.worst.callNs),
        stepNs: Math.max(stepNs, run.worst.stepNs),
        share: Math.max(share, run.worst.share),
      })
    }
    return run
  })
  return { ...result, lost, skipped, worst: Object.fromEntries([...worst].toSorted(([a], [b]) => (a < b ? -1 : 1))) }
}
