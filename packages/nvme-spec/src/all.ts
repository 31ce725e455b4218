// Declarations by kind. Decoders find commands and features by number in the lists, which import no structures; generators
// and tests find everything else in a module's exports.
import type { AnyCodes, AnyCommand, AnyFeature, AnyRegister, AnyStruct, AnyWord32 } from './layout/index.js'
import { DirectiveReceive, DirectiveSend } from './admin/directives.js'
import { Abort, AsyncEventRequest } from './admin/events.js'
import {
  ControllerMetadata,
  EmbeddedManagementControllerAddress,
  EnhancedControllerMetadata,
  HostBehaviorSupport,
  HostIdentifier,
  HostManagementAgentAddress,
  NamespaceMetadata,
  SoftwareProgressMarker,
} from './admin/features-host.js'
import {
  BootPartitionWriteProtectionConfig,
  EnduranceGroupEventConfiguration,
  FlexibleDataPlacement,
  FlexibleDataPlacementEvents,
  NamespaceWriteProtectionConfig,
  PredictableLatencyModeConfig,
  PredictableLatencyModeWindow,
  ReadRecoveryLevelConfig,
  ReservationNotificationMask,
  ReservationPersistence,
} from './admin/features-media.js'
import {
  Arbitration,
  AsynchronousEventConfiguration,
  AutonomousPowerStateTransition,
  ControllerDataQueue,
  GetFeatures,
  HostControlledThermalManagement,
  HostMemoryBuffer,
  InterruptCoalescing,
  InterruptVectorConfiguration,
  IoCommandSetProfile,
  KeepAliveTimer,
  NonOperationalPowerStateConfig,
  NumberOfQueues,
  PowerLossSignalingConfig,
  PowerManagement,
  SanitizeConfig,
  SetFeatures,
  SpinupControl,
  TemperatureThreshold,
  Timestamp,
  VolatileWriteCache,
} from './admin/features.js'
import { Identify } from './admin/identify.js'
import { GetLogPage } from './admin/logs.js'
import {
  DeviceSelfTest,
  FirmwareCommit,
  FirmwareImageDownload,
  FormatNvm,
  Lockdown,
  NvmeMiReceive,
  NvmeMiSend,
  Sanitize,
  SecurityReceive,
  SecuritySend,
} from './admin/maintenance.js'
import { CreateIoCq, CreateIoSq, DeleteIoCq, DeleteIoSq, DoorbellBufferConfig, KeepAlive } from './admin/queues.js'
import {
  CapacityManagement,
  GetLbaStatus,
  NamespaceAttachment,
  NamespaceManagement,
  VirtualizationManagement,
} from './admin/resources.js'
import {
  Cancel,
  Compare,
  Copy,
  DatasetManagement,
  Flush,
  IoManagementReceive,
  IoManagementSend,
  Read,
  Verify,
  Write,
  WriteUncorrectable,
  WriteZeroes,
} from './nvm/commands.js'
import {
  ErrorRecovery,
  LbaRangeType,
  LbaStatusInformationAttributes,
  PerformanceCharacteristics,
  WriteAtomicityNormal,
} from './nvm/features.js'
import { ReservationAcquire, ReservationRegister, ReservationRelease, ReservationReport } from './nvm/reservations.js'
import { ZoneAppend, ZoneManagementReceive, ZoneManagementSend } from './zns.js'

/** Every command, in the order of command set and opcode. */
export const allCommands: readonly AnyCommand[] = [
  DeleteIoSq,
  CreateIoSq,
  GetLogPage,
  DeleteIoCq,
  CreateIoCq,
  Identify,
  Abort,
  SetFeatures,
  GetFeatures,
  AsyncEventRequest,
  NamespaceManagement,
  FirmwareCommit,
  FirmwareImageDownload,
  DeviceSelfTest,
  NamespaceAttachment,
  KeepAlive,
  DirectiveSend,
  DirectiveReceive,
  VirtualizationManagement,
  NvmeMiSend,
  NvmeMiReceive,
  CapacityManagement,
  Lockdown,
  DoorbellBufferConfig,
  FormatNvm,
  SecuritySend,
  SecurityReceive,
  Sanitize,
  GetLbaStatus,
  Flush,
  Write,
  Read,
  WriteUncorrectable,
  Compare,
  WriteZeroes,
  DatasetManagement,
  Verify,
  ReservationRegister,
  ReservationReport,
  ReservationAcquire,
  IoManagementReceive,
  ReservationRelease,
  Cancel,
  Copy,
  IoManagementSend,
  ZoneManagementSend,
  ZoneManagementReceive,
  ZoneAppend,
]

/** Every feature, in the order of its identifier. */
export const allFeatures: readonly AnyFeature[] = [
  Arbitration,
  PowerManagement,
  LbaRangeType,
  TemperatureThreshold,
  ErrorRecovery,
  VolatileWriteCache,
  NumberOfQueues,
  InterruptCoalescing,
  InterruptVectorConfiguration,
  WriteAtomicityNormal,
  AsynchronousEventConfiguration,
  AutonomousPowerStateTransition,
  HostMemoryBuffer,
  Timestamp,
  KeepAliveTimer,
  HostControlledThermalManagement,
  NonOperationalPowerStateConfig,
  ReadRecoveryLevelConfig,
  PredictableLatencyModeConfig,
  PredictableLatencyModeWindow,
  LbaStatusInformationAttributes,
  HostBehaviorSupport,
  SanitizeConfig,
  EnduranceGroupEventConfiguration,
  IoCommandSetProfile,
  SpinupControl,
  PowerLossSignalingConfig,
  PerformanceCharacteristics,
  FlexibleDataPlacement,
  FlexibleDataPlacementEvents,
  ControllerDataQueue,
  EmbeddedManagementControllerAddress,
  HostManagementAgentAddress,
  EnhancedControllerMetadata,
  ControllerMetadata,
  NamespaceMetadata,
  SoftwareProgressMarker,
  HostIdentifier,
  ReservationNotificationMask,
  ReservationPersistence,
  NamespaceWriteProtectionConfig,
  BootPartitionWriteProtectionConfig,
]

/** Declarations by kind. */
export interface Declarations {
  readonly commands: readonly AnyCommand[]
  readonly features: readonly AnyFeature[]
  readonly registers: readonly AnyRegister[]
  /** Structures other than commands. */
  readonly structs: readonly AnyStruct[]
  /** Dwords of commands and completions that are not part of a feature. */
  readonly words: readonly AnyWord32[]
  /** Tables of numbers. */
  readonly codes: readonly AnyCodes[]
}

/** Returns the declarations among a module's exports, sorted by the name of the export. */
export function declarationsIn(module: object): Declarations {
  const found = Object.values(module).filter(
    (value) => typeof value === 'object' && value !== null && 'name' in value && 'spec' in value,
  ) as object[]
  const having = (...[has, hasNot]: [string[], string[]]) =>
    found.filter((value) => has.every((key) => key in value) && !hasNot.some((key) => key in value)) as never[]
  return {
    commands: having(['opcode'], []),
    features: having(['fid'], []),
    registers: having(['widthBits', 'offset'], []),
    structs: having(['fields', 'bytes'], ['opcode']),
    words: having(['widthBits'], ['offset']),
    codes: having(['values'], ['fields']),
  }
}
