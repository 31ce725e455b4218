import { RunFailure } from '@gpunvme/nvme-sim/dst'
import type { RecoveryStep } from '../src/index.js'
import type { Scenario } from './scenario.js'

const MS = 1_000_000

/** Time that the simulated transport waits after a function reset. */
export const FUNCTION_RESET_NS = 100 * MS

/** Polling interval of the driver: it may detect a deadline this much later. */
export const LOOK_NS = 10 * MS

/** Allowance for executing commands, and for delays before retries: at most 80 ms (10 ms, doubled three times). */
const WORK_NS = 150 * MS

/** Minimum time limit of a shutdown. */
const SHUTDOWN_NS = 5_000 * MS

/** Returns the time limit of a recovery step, from the options with which the controller was opened. */
export function stepLimitNs({ options }: Scenario, step: RecoveryStep): number {
  const { recovery, readyTimeoutNs } = options
  switch (step) {
    case 'abort':
      return recovery.abortNs + LOOK_NS
    case 'recreate-queues':
      return recovery.queuesNs + LOOK_NS
    case 'controller-reset':
      return 3 * readyTimeoutNs + recovery.restartNs + LOOK_NS
    case 'function-reset':
      return 3 * readyTimeoutNs + recovery.restartNs + FUNCTION_RESET_NS + LOOK_NS
  }
}

/** Recovery steps and faults during a call. */
export interface Meanwhile {
  /** Sum of the limits of the steps that have begun. */
  readonly stepsNs: number
  /** Number of these steps. */
  readonly steps: number
  /** Number of faults that occurred. */
  readonly injectedCount: number
  /** Limit of the step in progress; 0 for none. */
  readonly underWayNs: number
}

/**
 * Returns the time limit of a call: the limits of the recovery steps, plus the longest command time limit and `WORK_NS`
 * for each attempt. A recovery step or a fault costs at most one more attempt or delay.
 */
export function callLimitNs(scenario: Scenario, { stepsNs, steps, injectedCount }: Meanwhile): number {
  const { timeoutNs, options } = scenario
  const longestNs = Math.max(timeoutNs, options.commandTimeoutNs)
  return stepsNs + (1 + steps + injectedCount) * (longestNs + WORK_NS)
}

/** Returns the time limit of `open`: up to five waits for CSTS.RDY, and one command time limit for each fault. */
export function openLimitNs({ options }: Scenario, injectedCount: number): number {
  return 5 * options.readyTimeoutNs + (1 + injectedCount) * (options.commandTimeoutNs + WORK_NS)
}

/** Returns the time limit of `close`, without the calls that it waits for. */
export function closeLimitNs(scenario: Scenario, injectedCount: number): number {
  return openLimitNs(scenario, injectedCount) + SHUTDOWN_NS
}

/** Failure of a call or a recovery step that exceeded its time limit. */
export function tooLong(what: string, tookNs: number, limitNs: number): RunFailure {
  return new RunFailure('time', `${what} took ${ms(tookNs)}, limit ${ms(limitNs)}`)
}

function ms(ns: number): string {
  return `${(ns / MS).toFixed(1)} ms`
}
