export { DeviceLostError } from './bring-up/device-lost.js'
export { ControllerNotReadyError, UnsupportedControllerError } from './bring-up/ready.js'
export { CommandError, CommandTimeoutError, QueueFullError } from './commands/command-queue.js'
export {
  Controller,
  ControllerClosedError,
  NamespaceNotFoundError,
  SerialMismatchError,
  ShutdownIncompleteError,
  type ControllerStatistics,
} from './controller.js'
export type { ControllerOptions } from './open-options.js'
export type { ControllerEvent } from './events/controller-event.js'
export { EVENT_CHANNEL } from './events/event-hub.js'
export { RECOVERY_LIMITS, type RecoveryLimits, type RecoveryStep } from './recovery/recovery.js'
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
export { EngineFailedError, HostEngine, type HostEngineStatistics } from './engine/host-engine.js'
export type { ControllerIdentity, NamespaceIdentity } from './bring-up/identity.js'
export { LbaRangeError, UnsupportedNamespaceError } from './namespace/errors.js'
export { Namespace, type TransferOptions } from './namespace/namespace.js'
export { throwOnFailure, TransferError } from './namespace/transfer-error.js'
export { WritableNamespace } from './namespace/writable-namespace.js'
export { planTransfers, type PlanShape, type Transfer } from './engine/plan.js'
export { Registers } from './bring-up/registers.js'
export { faulty, type FaultyOptions, type FaultyTransport } from './wrap/faulty.js'
export { traced } from './wrap/traced.js'
