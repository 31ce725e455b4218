export { notApplicable, type CaseIdentity, type CaseOutcome } from '@gpunvme/nvme-sim/case-kit'
export type { DriverCase } from './case.js'
export { driverCases } from './cases/index.js'
export type { TransportChanges, Device, DriverContext, Implementations, MakeEngine, Opened } from './context.js'
export { describeTransport, type DescribeOptions, type ListedCases, type TestFramework } from './describe.js'
export {
  hostDriver,
  type DriverController,
  type DriverNamespace,
  type DriverOptions,
  type DriverUnderTest,
  type CaseController,
  type CaseNamespace,
} from './driver.js'
export {
  shortfall,
  type DeviceShape,
  type NamespaceRequest,
  type OpenedTransport,
  type OpenTransport,
  type TransportRequest,
} from './request.js'
export { runDriverCase, type DriverCaseOptions } from './run.js'
export type { Access } from './watch.js'
export { simulatedDevices } from './simulated.js'
