export { DeviceLostError } from './bring-up/device-lost.js'
export { ControllerNotReadyError, UnsupportedControllerError } from './bring-up/ready.js'
export type { AdminOptions } from './admin/admin-commands.js'
export type { FeatureCapabilities, FeatureValue, GetFeatureOptions } from './admin/features.js'
export type { FormatOptions } from './admin/format.js'
export type { Decodable, IdentifyOptions } from './admin/identify.js'
export type { ErrorLog, LogPageOptions, SmartLog } from './admin/log-page.js'
export type { Management } from './admin/management.js'
export type { NewNamespace } from './admin/namespaces.js'
export type { RawCommand, RawOptions, RawResult } from './admin/raw.js'
export type { SetFeatureOptions } from './admin/set-feature.js'
export { CommandError, CommandTimeoutError, QueueFullError } from './commands/command-queue.js'
export { UnknownFateError } from './commands/unknown-fate.js'
export { UnsupportedCommandError } from './commands/unsupported-command.js'
export {
  Controller,
  ControllerClosedError,
  SerialMismatchError,
  ShutdownIncompleteError,
  type ControllerStatistics,
  type ManagedController,
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
export { LbaRangeError, NamespaceNotFoundError, UnsupportedNamespaceError } from './namespace/errors.js'
export { BlockCommandError, type CommandLimits } from './namespace/changes.js'
export { NamespaceBusyError } from './namespace/in-use.js'
export { Namespace, type CompareOptions, type TransferOptions } from './namespace/namespace.js'
export type { BlockRange } from './namespace/ranges.js'
export { throwOnFailure, TransferError } from './namespace/transfer-error.js'
export { WritableNamespace, type WriteZeroesOptions } from './namespace/writable-namespace.js'
export { planTransfers, type PlanShape, type Transfer } from './engine/plan.js'
export { Registers } from './bring-up/registers.js'
export { faulty, type FaultyOptions, type FaultyTransport } from './wrap/faulty.js'
export { traced } from './wrap/traced.js'
