/**
 * Shared parts of engines: copying and checking a plan before its first command is staged, conversion of a status to an
 * outcome, command identifiers, memory segments, and listeners of abort signals.
 * @module
 */
export { AbortListeners } from './abort-listeners.js'
export { AcceptedPlan } from './plan.js'
export { checkPlan, transferProblem, type PlanQueue } from './plan.js'
export { cidOf, cidSlotBits, generationOfCid, MAX_IN_FLIGHT, slotOfCid } from './completion.js'
export { EngineFailedError } from './completion.js'
export { isLost } from './completion.js'
export { runsOf, type MemoryRuns } from './memory.js'
export { firstBreakInPage, prpProblem, segmentAt } from './memory.js'
export { statusOutcome } from './completion.js'
