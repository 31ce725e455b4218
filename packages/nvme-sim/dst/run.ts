import type { FaultReport } from '@gpunvme/nvme-spec/faults'
import type { FaultPlan, TraceEvent, TraceSink } from '@gpunvme/nvme-spec/transport'
import { simulate, type Media } from '../src/index.js'
import { ArbitrationWatch } from './arbitration-watch.js'
import { CachedMedia } from './cached-media.js'
import { Driver } from './driver.js'
import { RunFailure } from './failure.js'
import type { Scenario } from './scenario.js'

/** Options of a run. */
export interface RunOptions {
  /** Receives every event of the run. */
  readonly trace?: TraceSink
  /** Creates the media of a namespace. Default: memory. Tests inject defects here. */
  readonly media?: (capacityBytes: number) => Media
}

/** Statistics and failure of a run. */
export interface RunResult {
  readonly failure: RunFailure | undefined
  readonly commands: number
  readonly completions: number
  readonly virtualNs: number
  /** Hash of the event trace. */
  readonly traceHash: string
  /** Number of successful operations, by name. */
  readonly done: Readonly<Record<string, number>>
  /** Number of faults that occurred, by kind. */
  readonly injected: Readonly<Record<string, number>>
}

/** Runs a scenario once. */
export async function runScenario(scenario: Scenario, { trace, media }: RunOptions = {}): Promise<RunResult> {
  const { seed, profile, fragmented, faults, spareBytes = 0 } = scenario
  const caches: CachedMedia[] = []
  const losesPower = scenario.steps.some((step) => step.do === 'reset' && step.how === 'power')
  const mediaOf = (capacityBytes: number): Media | undefined => {
    if (media !== undefined || !losesPower) return media?.(capacityBytes)
    const cache = new CachedMedia(capacityBytes)
    caches.push(cache)
    return cache
  }
  const namespaces = scenario.namespaces.map(
    ({ nsid, blockBytes, blocks, metadataBytes = 0, isExtended: extendedLba = false }) => {
      const capacityBytes = blocks * (blockBytes + metadataBytes)
      const made = mediaOf(capacityBytes)
      return { nsid, blockBytes, metadataBytes, extendedLba, capacityBytes, ...(made && { media: made }) }
    },
  )
  const watch = scenario.arbitration && new ArbitrationWatch(scenario, scenario.arbitration)
  const sink = watch
    ? (event: TraceEvent) => {
        watch.note(event)
        trace?.(event)
      }
    : trace
  const simulation = simulate({
    seed,
    profile,
    fragmented,
    faults,
    namespaces,
    spareCapacityBytes: spareBytes,
    ...(sink && { trace: sink }),
  })
  const driver = new Driver(simulation, scenario, caches)
  let failure: RunFailure | undefined
  try {
    await driver.run()
    watch?.check()
  } catch (error) {
    failure = error instanceof RunFailure ? error : crashed(error)
  }
  const { submitted, completed, verdicts } = driver.host
  return {
    failure,
    commands: submitted,
    completions: completed,
    virtualNs: simulation.clock.now(),
    traceHash: simulation.traceHash,
    done: verdicts.tally.all,
    injected: injectedByKind(faults, simulation.faults),
  }
}

/** Runs a scenario twice; both runs must be identical. */
export async function runTwice(scenario: Scenario, options: RunOptions = {}): Promise<RunResult> {
  const first = await runScenario(scenario, options)
  if (first.failure) return first
  const { traceHash } = await runScenario(scenario, options)
  if (traceHash === first.traceHash) return first
  const failure = new RunFailure('replay', `trace hash ${first.traceHash} in the first run, ${traceHash} in the second`)
  return { ...first, failure }
}

/** Converts an unexpected error to a failure. */
export function crashed(error: unknown): RunFailure {
  const failure = new RunFailure('crash', String(error))
  failure.cause = error
  return failure
}

/** Returns the number of faults of a plan that occurred, by kind. */
export function injectedByKind({ rules }: FaultPlan, { hits }: FaultReport): Record<string, number> {
  const byKind: Record<string, number> = {}
  rules.forEach(({ action: { kind } }, rule) => {
    const times = hits[rule]!
    if (times > 0) byKind[kind] = (byKind[kind] ?? 0) + times
  })
  return byKind
}
