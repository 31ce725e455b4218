/**
 * Shared parts of engines: copying and checking a plan before its first command is staged, conversion of a status to an
 * outcome, command identifiers, memory segments, and listeners of abort signals.
 * @module
 */
export { AbortListeners } from './abort-listeners.js'
export { AcceptedPlan } from './accepted-plan.js'
export { checkPlan, type PlanQueue } from './check-plan.js'
export { cidOf, cidSlotBits, generationOfCid, MOST_IN_FLIGHT, slotOfCid } from './command-ids.js'
export { EngineFailedError } from './engine-failed.js'
export { isLost } from './is-lost.js'
export { runsOf, type MemoryRuns } from './memory-runs.js'
export { firstBreakInPage, prpProblem, segmentAt } from './segments.js'
export { statusOutcome } from './status-outcome.js'
