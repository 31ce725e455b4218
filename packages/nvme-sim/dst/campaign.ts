import type { RunFailure } from './failure.js'
import { makeScenario } from './make-scenario.js'
import { Tally } from './tally.js'
import { runScenario, runTwice, type RunOptions, type RunResult } from './run.js'

/** Every eighth seed runs twice, and both runs must be identical. */
export const REPLAY_INTERVAL = 8

/** A range of seeds. */
export interface Seeds {
  /** Number of seeds. */
  readonly seeds: number
  /** First seed. Default: 1. */
  readonly firstSeed?: number
}

/** Options of `runCampaign`. */
export interface CampaignOptions extends RunOptions, Seeds {}

/** Statistics and failures of a campaign. They contain no wall times, so they are the same on every machine. */
export interface CampaignResult {
  readonly firstSeed: number
  readonly runs: number
  readonly commands: number
  readonly completions: number
  /** Number of successful operations, by name in alphabetical order. */
  readonly done: Readonly<Record<string, number>>
  /** Number of faults that occurred, by kind in alphabetical order. */
  readonly injected: Readonly<Record<string, number>>
  /** Total virtual time of all runs. */
  readonly virtualNs: number
  /** Hash of the event traces of all runs. */
  readonly hash: string
  readonly failures: readonly { readonly seed: number; readonly failure: RunFailure }[]
}

/** Runs one scenario per seed. */
export function runCampaign({ seeds, firstSeed = 1, ...options }: CampaignOptions): Promise<CampaignResult> {
  return runSeeds({ seeds, firstSeed }, (seed) =>
    (seed % REPLAY_INTERVAL === 0 ? runTwice : runScenario)(makeScenario(seed), options),
  )
}

/** Calls `run` for each seed, and sums up the results. */
export async function runSeeds(
  { seeds, firstSeed = 1 }: Seeds,
  run: (seed: number) => Promise<RunResult>,
): Promise<CampaignResult> {
  const [done, injected] = [new Tally(), new Tally()]
  const failures: { seed: number; failure: RunFailure }[] = []
  let [commands, completions, virtualNs] = [0, 0, 0]
  let hash = 0n
  for (let seed = firstSeed; seed < firstSeed + seeds; seed++) {
    const result = await run(seed)
    if (result.failure) failures.push({ seed, failure: result.failure })
    commands += result.commands
    completions += result.completions
    virtualNs += result.virtualNs
    // The modulus is a prime near 2^64, so that every bit of every hash affects the result.
    hash = (hash * 31n + BigInt(`0x${result.traceHash}`)) % 0xffff_ffff_ffff_ffc5n
    done.addAll(result.done)
    injected.addAll(result.injected)
  }
  return {
    firstSeed,
    runs: seeds,
    commands,
    completions,
    done: done.all,
    injected: injected.all,
    virtualNs,
    hash: hash.toString(16).padStart(16, '0'),
    failures,
  }
}
