/**
 * Fault plans: reading and writing them, checking them, and deciding what they strike. What a plan is stands in
 * `/transport`; what its faults do is up to whoever executes it: the simulator, or a wrapper of a transport.
 * @module
 */
export { ArmedPlan, type ArmedPlanOptions, type FaultReport, type Strike } from './armed-plan.js'
export { ArmedRule } from './armed-rule.js'
export {
  addressesBlocks,
  answersWithData,
  checkFaultPlan,
  FaultPlanError,
  formatFaultPlan,
  parseFaultPlan,
  subjectsOf,
  type FaultPlanPlace,
} from './plan.js'
export { randomStream, type Random } from './random.js'
export { Struck, type ActionOf } from './struck.js'
export type { Subject } from './vocabulary.js'
