/**
 * Checks of the GPU engine on the driver and the GPU of a machine, without a test framework: for `npm run test:gpu`, for a
 * packed copy on a bare machine, and for tests on a stand-in for libcuda. Not published.
 * @module
 */
export { CheckFailed, NotApplicable, type Check, type Fact, type Facts } from './check.js'
export { checks } from './checks/index.js'
export { FULL, QUICK, type CheckContext, type Scale } from './context.js'
export { entryPoints, readKernels, type KernelTexts } from './kernels.js'
export { loadDriveAddon, type DriveAddon } from './drive-addon.js'
export {
  SCHEMA,
  SCHEMA_VERSION,
  writeReport,
  type CheckResult,
  type Figure,
  type Report,
  type Verdict,
} from './report.js'
export { runChecks, type RunOptions } from './run-checks.js'
export { conclusion, headline, lineOf } from './summary.js'
export { readReport, supervise, Watchdog, type Supervised } from './supervise.js'
