export {
  bindDriver,
  DriverNotLoadedError,
  FunctionAsleepError,
  LeftUndoneError,
  NoIommuError,
  planBinding,
  type Binding,
  type BindOptions,
} from './bind.js'
export { BindingRecordError, parseBindingRecord, type BindingRecord, type UserSpaceDriver } from './binding-record.js'
export { BindError, type BindingStep } from './binding-steps.js'
export {
  ConfigSpaceAccessError,
  fileConfigSpace,
  snapshot,
  sysfsConfigSpace,
  type OpenConfigSpace,
} from './config-space.js'
export {
  DriverBoundError,
  GroupNotViableError,
  nvmeFunction,
  nvmeFunctions,
  NotNvmeError,
  PciFunctionNotFoundError,
  type GroupObstacle,
  type IommuGroup,
  type PciFunction,
} from './function.js'
export {
  BusMasterError,
  D3HOT_WAIT_NS,
  disableBusMaster,
  enableFunction,
  hasFunctionLevelReset,
  PowerStateError,
  wakeFunction,
} from './power.js'
export { planRestoring, restoreBinding, type RestoreOptions } from './restore.js'
