/**
 * Deterministic simulation: random hosts on random controllers under random faults, each derived from one seed and
 * checked against the guarantees of NVMe. Also the parts that the campaign of a driver uses. For this repository's `npm
 * run dst`; not part of the package's interface.
 * @module
 */
export {
  REPLAYED_EVERY,
  runCampaign,
  runSeeds,
  type CampaignOptions,
  type CampaignResult,
  type Seeds,
} from './campaign.js'
export { cutDown, dropParts, type CutDown, type Keep } from './cut-down.js'
export { Dice } from './dice.js'
export { RunFailure, type Assertion } from './failure.js'
export { makeScenario, notDrawn } from './make-scenario.js'
export { Medium, type Range } from './medium.js'
export { minimise, type Minimised } from './minimise.js'
export { ANY, fillBlock, holds, type Content } from './pattern.js'
export { firstDifference } from '../raw-host/guarded-memory.js'
export { formatCampaign, formatMinimised, traceOf } from './report.js'
export { crashed, runScenario, runTwice, struckByKind, type RunOptions, type RunResult } from './run.js'
export type { Scenario, Step } from './scenario.js'
