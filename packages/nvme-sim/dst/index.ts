/**
 * Deterministic simulation testing: random hosts on random controllers under random faults, each derived from one seed
 * and checked against the requirements of NVMe. Also exports the parts that other campaigns share: seeds, dice, block
 * contents and minimisation. `@gpunvme/host-driver/dst` is the campaign for drivers.
 * @module
 */
export {
  REPLAY_INTERVAL,
  runCampaign,
  runSeeds,
  type CampaignOptions,
  type CampaignResult,
  type Seeds,
} from './campaign.js'
export { shrink, dropParts, type Shrunk, type Accept } from './shrink.js'
export { Dice } from './dice.js'
export { RunFailure, type Assertion } from './failure.js'
export { makeScenario, uncoveredFeatures } from './make-scenario.js'
export { CachedMedia } from './cached-media.js'
export { Medium, type Range, type Source } from './medium.js'
export { minimise, type Minimised } from './minimise.js'
export { ANY, fillBlock, holds, UNREADABLE, writtenContent, ZEROES, type Content } from './pattern.js'
export { firstDifference } from '../conformance/raw-host/guarded-memory.js'
export { formatCampaign, formatMinimised, traceOf } from './report.js'
export { crashed, runScenario, runTwice, injectedByKind, type RunOptions, type RunResult } from './run.js'
export type { Scenario, Step } from './scenario.js'
export { Tally } from './tally.js'
