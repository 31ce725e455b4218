export type { BlockSet, SetMember, SetStatistics, WritableBlockSet } from './block-set.js'
export {
  createMirror,
  createStripe,
  eraseSet,
  planMirror,
  planStripe,
  SetPlan,
  type CreateSetOptions,
  type CreateStripeOptions,
  type StripeShape,
} from './create-set.js'
export {
  DEFAULT_UNIT_BYTES,
  MIN_UNIT_BYTES,
  MEMBER_DATA_BYTES,
  MAX_MEMBERS,
  MAX_UNIT_BYTES,
  type SetKind,
} from './format.js'
export { SET_LABEL, SetLabelError, type LabelField } from './label.js'
export { measureWeights, type MeasureWeightsOptions } from './measure.js'
export { SetMemberError, type MemberVerb } from './member-error.js'
export { openSet, type OpenSetOptions } from './open-set.js'
export type { SetProblem } from './problem.js'
export { completeLabels } from './write-label.js'
export { findUses, type StoreUse } from './store-use.js'
export { rebuildMirror, type RebuildOptions } from './rebuild.js'
