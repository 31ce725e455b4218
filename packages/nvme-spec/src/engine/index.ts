/**
 * What every engine needs that executes plans, whichever package it lives in: the copy and the check that each plan
 * passes before its first command is staged, how a status becomes an outcome, command identifiers, and where memory lies.
 * @module
 */
export { AcceptedPlan } from './accepted-plan.js'
export { checkPlan, type PlanQueue } from './check-plan.js'
export { cidOf, cidSlotBits, generationOfCid, MOST_IN_FLIGHT, slotOfCid } from './command-ids.js'
export { EngineFailedError } from './engine-failed.js'
export { isLost } from './is-lost.js'
export { runsOf, type MemoryRuns } from './memory-runs.js'
export { firstBreakInPage, prpProblem, segmentAt } from './segments.js'
export { statusOutcome } from './status-outcome.js'
