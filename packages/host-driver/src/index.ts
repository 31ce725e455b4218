export { ControllerNotReadyError, DeviceLostError, UnsupportedControllerError } from './bring-up.js'
export { CommandError, CommandTimeoutError } from './command-queue.js'
export {
  Controller,
  ControllerClosedError,
  NamespaceNotFoundError,
  SerialMismatchError,
  ShutdownIncompleteError,
  type ControllerOptions,
} from './controller.js'
export { DeviceHeldError, ForeignDataError, UNREADABLE_DATA, type WriteRequest } from './guard/guard.js'
export { findHolders, type Holder, type HolderOptions } from './guard/holders.js'
export {
  findSignatures,
  SIGNATURE_REACH_BYTES,
  signatureRanges,
  type ByteRange,
  type FoundSignature,
  type SignatureSource,
} from './guard/signatures.js'
export { DeviceUseUnknownError } from './guard/tree.js'
export { EngineFailedError, HostEngine, type HostEngineStatistics } from './host-engine.js'
export type { ControllerIdentity, NamespaceIdentity } from './identity.js'
export {
  LbaRangeError,
  Namespace,
  throwOnFailure,
  TransferError,
  UnsupportedNamespaceError,
  WritableNamespace,
  type TransferOptions,
} from './namespace.js'
export { planTransfers, type PlanShape, type Transfer } from './plan.js'
export { Registers } from './registers.js'
export { faulty, type FaultyOptions, type FaultyTransport } from './wrap/faulty.js'
export { traced } from './wrap/traced.js'
