import { makeScenario } from './make-scenario.js'
import { runScenario, runTwice, type Worst } from './run.js'
import { REPLAYED_EVERY, runSeeds, type CampaignResult, type Seeds } from '@gpunvme/nvme-sim/dst'
import type { Driver } from './world.js'

/** What a campaign of the driver has done and found. Equal on every machine: it holds no wall time. */
export interface DriverCampaignResult extends CampaignResult {
  /** How often a controller was declared lost. */
  readonly lost: number
  /** What took longest where one kind of fault struck and no other; 'none' where none did. */
  readonly worst: Readonly<Record<string, Worst>>
}

/** Runs the driver on one scenario for each seed. */
export async function runDriverCampaign(driver: Driver, seeds: Seeds): Promise<DriverCampaignResult> {
  const worst = new Map<string, Worst>()
  let lost = 0
  const result = await runSeeds(seeds, async (seed) => {
    const scenario = makeScenario(seed)
    const run = await (seed % REPLAYED_EVERY === 0 ? runTwice : runScenario)(scenario, driver)
    lost += run.lost
    const kinds = Object.keys(run.struck)
    if (kinds.length <= 1) {
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
  return { ...result, lost, worst: Object.fromEntries([...worst].toSorted(([a], [b]) => (a < b ? -1 : 1))) }
}
