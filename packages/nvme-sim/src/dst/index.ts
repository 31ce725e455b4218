/**
 * Deterministic simulation: random hosts on random controllers under random faults, each from one seed, judged by what
 * NVMe promises. For this repository's own `npm run dst`; not a part of the package's interface.
 * @module
 */
export { runCampaign, type CampaignOptions, type CampaignResult } from './campaign.js'
export { RunFailure, type Assertion } from './failure.js'
export { makeScenario } from './make-scenario.js'
export { minimise, type Minimised } from './minimise.js'
export { formatCampaign, formatMinimised, traceOf } from './report.js'
export { runScenario, runTwice, type RunOptions, type RunResult } from './run.js'
export type { Scenario, Step } from './scenario.js'
