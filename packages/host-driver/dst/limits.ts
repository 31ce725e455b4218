import type { RecoveryStep } from '../src/index.js'
import type { Scenario } from './scenario.js'

const MS = 1_000_000

/** What the simulated transport waits after a reset of the function. */
export const FUNCTION_RESET_NS = 100 * MS

/** How late a deadline may be noticed: this often the driver looks while it waits. */
export const LOOK_NS = 10 * MS

/** For what commands, links and media really take, and for delays before a retry: 80 ms at most (10 ms doubled thrice). */
const WORK_NS = 150 * MS

/** A shutdown is waited for so long at least. */
const SHUTDOWN_NS = 5_000 * MS

/** The longest a step of a recovery may take, by the limits that the controller was opened with. */
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

/** What happened while a call was under way. */
export interface Meanwhile {
  /** What the steps taken may have taken, all together. */
  readonly stepsNs: number
  readonly steps: number
  /** Faults that struck. */
  readonly strikes: number
  /** The limit of a step that had begun before. */
  readonly underWayNs: number
}

/**
 * The longest that a read, a write or a flush may take: one time limit and the work for the first attempt, and for every
 * step of a recovery and every fault that struck meanwhile - each costs an attempt or a delay at most - once more, and
 * the limits of these steps.
 */
export function callLimitNs(scenario: Scenario, { stepsNs, steps, strikes }: Meanwhile): number {
  const { timeoutNs, options } = scenario
  const longestNs = Math.max(timeoutNs, options.commandTimeoutNs)
  return stepsNs + (1 + steps + strikes) * (longestNs + WORK_NS)
}

/** The longest that an open may take: CSTS.RDY is waited for up to five times, and each fault costs a time limit. */
export function openLimitNs({ options }: Scenario, strikes: number): number {
  return 5 * options.readyTimeoutNs + (1 + strikes) * (options.commandTimeoutNs + WORK_NS)
}

/** The longest that a close may take, beyond the calls that it waits for. */
export function closeLimitNs(scenario: Scenario, strikes: number): number {
  return openLimitNs(scenario, strikes) + SHUTDOWN_NS
}
