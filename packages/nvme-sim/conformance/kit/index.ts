/**
 * Parts that controller cases and driver cases share, for further cases: checks and outcomes.
 * @module
 */
export { check, CheckFailed, equal, fail, notApplicable, NotApplicable } from './check.js'
export { outcomeOf, type CaseIdentity, type CaseOutcome } from './outcome.js'
export { WALL_LIMIT_MS, withWallLimit } from './wall.js'
