/**
 * Deterministic simulation of the driver: random work on random controllers under random faults, each from one seed,
 * judged by what the driver promises. `hostDriver` is this package's driver; another driver implements `DriverUnderTest`.
 * Needs `@gpunvme/nvme-sim` beside this package. `npm run dst` of this repository runs it.
 * @module
 */
export { hostDriver, type DriverController, type DriverNamespace, type DriverUnderTest } from '../conformance/driver.js'
export { runDriverCampaign, type DriverCampaignResult } from './campaign.js'
export { makeScenario } from './make-scenario.js'
export { minimise } from './minimise.js'
export { formatDriverCampaign, formatMinimised, traceOf } from './report.js'
export { runScenario, runTwice, type DriverRun } from './run.js'
export type { Scenario, Step } from './scenario.js'
