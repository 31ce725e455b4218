export type { DriverArea, DriverCase } from './case.js'
export { driverAreas, driverCases } from './cases/index.js'
export { DriverCheckFailed, NotApplicable } from './check.js'
export type { Between, Device, DriverContext, MakeEngine, Opened } from './context.js'
export { describeTransport, type DescribeOptions, type ListedCases, type TestFramework } from './describe.js'
export {
  shortfall,
  type DeviceShape,
  type NamespaceRequest,
  type OpenedTransport,
  type OpenTransport,
  type TransportRequest,
} from './request.js'
export { runDriverCase, type DriverCaseOptions, type DriverCaseOutcome } from './run.js'
export type { Access } from './watch.js'
