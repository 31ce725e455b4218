import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { crashed, RunFailure, type RunResult } from '@gpunvme/nvme-sim/dst'
import type { TraceSink } from '@gpunvme/nvme-spec/transport'
import type { DriverUnderTest } from '../conformance/driver.js'
import { EVENT_CHANNEL, type ControllerEvent } from '../src/index.js'
import type { Worst } from './calls-in-progress.js'
import { checkDiagnostics, checkMedium } from './final-checks.js'
import { Host } from './host.js'
import { prove } from './prove.js'
import type { Scenario } from './scenario.js'
import { Steps } from './steps.js'

/** Statistics and failure of a run of the driver. */
export interface DriverRun extends RunResult {
  /** Maximum durations. */
  readonly worst: Worst
  /** Number of times that the controller was declared lost. */
  readonly lost: number
  /** False if the driver does not support the options of the scenario; the run checks nothing then. */
  readonly isApplicable: boolean
}

/** Options of a run. */
export interface DriverRunOptions {
  /** Receives every event of the run. */
  readonly trace?: TraceSink
}

/** Runs a scenario once. */
export async function runScenario(
  scenario: Scenario,
  driver: DriverUnderTest,
  options: DriverRunOptions = {},
): Promise<DriverRun> {
  const host = new Host(scenario, driver, options.trace)
  const { world, calls } = host
  let failure: RunFailure | undefined
  const listen = (message: unknown) => host.note((message as { event: ControllerEvent }).event)
  const reject = (error: unknown) => calls.fail(new RunFailure('crash', `unhandled rejection: ${String(error)}`))
  subscribe(EVENT_CHANNEL, listen)
  process.on('unhandledRejection', reject)
  try {
    await takeSteps(host)
  } catch (error) {
    failure = error instanceof RunFailure ? error : crashed(error)
  } finally {
    world.clock.stop()
    unsubscribe(EVENT_CHANNEL, listen)
    process.off('unhandledRejection', reject)
  }
  return {
    failure,
    commands: calls.started,
    completions: calls.outcomes,
    virtualNs: world.clock.now(),
    traceHash: world.simulation.traceHash,
    done: host.tally.all,
    injected: world.injected,
    worst: calls.worst,
    lost: host.lost,
    isApplicable: host.isApplicable,
  }
}

async function takeSteps(host: Host): Promise<void> {
  const { scenario, calls, world } = host
  const steps = new Steps(host)
  await host.open()
  for (const step of scenario.steps) {
    if (host.ctrl === undefined) break
    await steps.take(step)
  }
  await calls.join()
  await prove(host, steps)
  await host.close()
  checkMedium(host)
  checkDiagnostics(world)
}

/** Runs a scenario twice; both runs must be identical. */
export async function runTwice(scenario: Scenario, driver: DriverUnderTest): Promise<DriverRun> {
  const first = await runScenario(scenario, driver)
  if (first.failure) return first
  const { traceHash } = await runScenario(scenario, driver)
  if (traceHash === first.traceHash) return first
  return {
    ...first,
    failure: new RunFailure('replay', `trace hash ${first.traceHash} in the first run, ${traceHash} in the second`),
  }
}
