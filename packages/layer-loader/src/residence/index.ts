export { BudgetInfeasibleError } from './budget-infeasible.js'
export { CopyMismatchError } from './copy-check.js'
export { expertLayers, type ExpertLayer, type LayersWithTensors } from './expert-sizes.js'
export type { LoadableModel } from '../load/extent.js'
export { fitLayers, fitLayerSizes, type FitOptions } from './fit-layers.js'
export { hostCopies, type HostCopyEngine, type HostCopyMemory } from './host-copies.js'
export type { SlotLayout, SlotCounts } from './lay-out.js'
export type { LinkTimes } from './link-times.js'
export { layerSizes, type LayerReadOptions } from './layer-sizes.js'
export { measureCost, type MeasureOptions } from './measure-cost.js'
export { planExperts, type ExpertPlan, type ExpertPlanOptions } from './plan-experts.js'
export { planResidence, type Budget, type BudgetUse, type ResidenceOptions, type ResidencePlan } from './plan.js'
export type { LayerSize, PassTimes, PlacedLayer, Prediction, ReadShape } from './predict.js'
export type { DriftBand, RateDrift } from './rate-watch.js'
export { replan, type ObservedRates } from './replan.js'
export type { ResidentLease } from './resident-lease.js'
export {
  openResidence,
  type PassOptions,
  type ResidentModelOptions,
  type ResidenceStatistics,
  type ResidentModel,
} from './resident-model.js'
export type { Residence } from './spread.js'
export type { SustainedPass } from './sustained.js'
