/**
 * Deterministic simulation of the driver: random work on random controllers under random faults, each from one seed,
 * judged by what the driver promises. For this repository's own `npm run dst`; not published.
 * @module
 */
export { runDriverCampaign, type DriverCampaignResult } from './campaign.js'
export { makeScenario } from './make-scenario.js'
export { minimise } from './minimise.js'
export { KINDS } from './random-faults.js'
export { formatDriverCampaign, formatMinimised, formatWorst, traceOf } from './report.js'
export { runScenario, runTwice, type DriverRun } from './run.js'
export type { Scenario, Step } from './scenario.js'
export type { Driver } from './world.js'
