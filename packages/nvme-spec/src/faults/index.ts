/**
 * Fault plans: parse, format and check them, and decide what they apply to. `/transport` declares their types. The
 * simulator, or a wrapper of a transport, executes them.
 * @module
 */
export { ArmedPlan, type ArmedPlanOptions, type FaultReport, type InjectedFault } from './armed-plan.js'
export { ArmedRule } from './armed-plan.js'
export {
  addressesBlocks,
  returnsData,
  checkFaultPlan,
  FaultPlanError,
  formatFaultPlan,
  parseFaultPlan,
  subjectsOf,
  type FaultPlanLocation,
} from './plan.js'
export { randomStream, type Random } from './random.js'
export { MatchedFaults, type ActionOf } from './armed-plan.js'
export type { Subject } from './vocabulary.js'
