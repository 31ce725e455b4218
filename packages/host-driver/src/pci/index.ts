export {
  bindDriver,
  BindError,
  DriverNotLoadedError,
  type Binding,
  type BindOptions,
  type UserSpaceDriver,
} from './bind.js'
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
