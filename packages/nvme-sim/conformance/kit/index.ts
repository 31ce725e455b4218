/**
 * What the controller cases and the driver cases have in common, for cases of your own: checks, and how a case ends.
 * @module
 */
export { check, CheckFailed, equal, fail, notApplicable, NotApplicable } from './check.js'
export { outcomeOf, type CaseIdentity, type CaseOutcome } from './outcome.js'
export { WALL_LIMIT_MS, withinWall } from './wall.js'
