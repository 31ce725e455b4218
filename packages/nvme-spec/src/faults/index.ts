/**
 * Fault plans: parse, format and check them, and decide what they apply to. `/transport` declares their types. The
 * simulator, or a wrapper of a transport, executes them.
 * @module
 */
export { ArmedPlan, type ArmedPlanOptions, type FaultReport, type Strike } from './armed-plan.js'
export { ArmedRule } from './armed-plan.js'
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
export { Struck, type ActionOf } from './armed-plan.js'
export type { Subject } from './vocabulary.js'
