/**
 * Deterministic simulation testing of a driver: random workloads on random controllers under random faults, each
 * derived from one seed and checked against the driver's guarantees. `hostDriver` is this package's driver; another
 * driver implements `DriverUnderTest`. Requires `@gpunvme/nvme-sim`. In this repository, `npm run dst` runs it.
 * @module
 */
export { hostDriver, type DriverController, type DriverNamespace, type DriverUnderTest } from '../conformance/driver.js'
export { runDriverCampaign, type DriverCampaignResult } from './campaign.js'
export { makeScenario } from './make-scenario.js'
export { minimise } from './minimise.js'
export { formatDriverCampaign, formatMinimised, traceOf } from './report.js'
export { runScenario, runTwice, type DriverRun } from './run.js'
export type { Scenario, Step } from './scenario.js'
