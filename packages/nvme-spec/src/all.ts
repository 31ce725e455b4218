// All declarations, by kind, for generators, checks, tests and the decoders. Modules that must stay small do not import
// it.
import type { AnyCommand } from './layout/command.js'
import type { AnyFeature } from './layout/feature.js'
import type { AnyStruct } from './layout/struct.js'
import type { AnyCodes } from './layout/codes.js'
import type { AnyWord32 } from './layout/word.js'
import { CapacityManagement, CapacityManagementDw0 } from './admin/capacity-management.js'
import {
  AllocateResourcesCdw12,
  AllocateResourcesDw0,
  DIRECTIVE_TYPE,
  DirectiveReceive,
  DirectiveSend,
  EnableDirectiveCdw12,
  IDENTIFY_DIRECTIVE_SEND,
  IdentifyDirectiveParameters,
  STREAMS_DIRECTIVE_SEND,
  StreamsDirectiveParameters,
  StreamsDirectiveStatus,
} from './admin/directives.js'
import { DoorbellBufferConfig } from './admin/doorbell-buffer.js'
import { Abort, AbortDw0, AET, AsyncEventDw0, AsyncEventDw1, AsyncEventRequest } from './admin/events.js'
import { AEI_ERROR, AEI_IMMEDIATE, AEI_IO_COMMAND, AEI_NOTICE, AEI_ONE_SHOT, AEI_SMART } from './admin/events.js'
import { Arbitration } from './admin/feature/arbitration.js'
import { AsynchronousEventConfiguration } from './admin/feature/asynchronous-event-configuration.js'
import { ControllerDataQueue, ControllerDataQueueData } from './admin/feature/controller-data-queue.js'
import { EnduranceGroupEventConfiguration } from './admin/feature/endurance-group-event.js'
import {
  FlexibleDataPlacement,
  FlexibleDataPlacementEvents,
  SupportedFdpEvent,
} from './admin/feature/flexible-data-placement.js'
import { HostBehavior, HostBehaviorSupport } from './admin/feature/host-behavior-support.js'
import { HostIdentifier, HostIdentifierData } from './admin/feature/host-identifier.js'
import {
  HostMemoryBuffer,
  HostMemoryBufferAttributes,
  HostMemoryBufferDescriptor,
} from './admin/feature/host-memory-buffer.js'
import {
  CONTROLLER_METADATA_ELEMENT,
  ControllerMetadata,
  EnhancedControllerMetadata,
  HostMetadata,
  MetadataElement,
  NAMESPACE_METADATA_ELEMENT,
  NamespaceMetadata,
} from './admin/feature/host-metadata.js'
import { InterruptCoalescing, InterruptVectorConfiguration } from './admin/feature/interrupts.js'
import { IoCommandSetProfile } from './admin/feature/io-command-set-profile.js'
import { KeepAliveTimer } from './admin/feature/keep-alive-timer.js'
import {
  EmbeddedManagementControllerAddress,
  EmbeddedManagementControllerAddressData,
  HostManagementAgentAddress,
  HostManagementAgentAddressData,
} from './admin/feature/management-address.js'
import {
  AutonomousPowerStateTransition,
  AutonomousPowerStateTransitionEntry,
  AutonomousPowerStateTransitions,
  HostControlledThermalManagement,
  NonOperationalPowerStateConfig,
  PowerLossSignalingConfig,
  PowerManagement,
  SpinupControl,
} from './admin/feature/power.js'
import {
  DeterministicThresholdConfiguration,
  PredictableLatencyModeConfig,
  PredictableLatencyModeWindow,
} from './admin/feature/predictable-latency.js'
import { ReadRecoveryLevelConfig } from './admin/feature/read-recovery-level.js'
import { ReservationNotificationMask, ReservationPersistence } from './admin/feature/reservation.js'
import { SanitizeConfig } from './admin/feature/sanitize-config.js'
import { SoftwareProgressMarker } from './admin/feature/software-progress-marker.js'
import { TemperatureThreshold } from './admin/feature/temperature-threshold.js'
import { Timestamp, TimestampData } from './admin/feature/timestamp.js'
import { VolatileWriteCache } from './admin/feature/volatile-write-cache.js'
import { BootPartitionWriteProtectionConfig, NamespaceWriteProtectionConfig } from './admin/feature/write-protection.js'
import { FID, GetFeatures, SetFeatures, SupportedCapabilitiesDw0 } from './admin/features.js'
import { NumberOfQueues } from './admin/feature/number-of-queues.js'
import { FirmwareCommit, FirmwareImageDownload, FirmwareUpdateDw0 } from './admin/firmware.js'
import { FormatNvm } from './admin/format.js'
import { GetLbaStatus, LbaStatusDescriptor, LbaStatusDescriptorList } from './admin/get-lba-status.js'
import { GetLogPage } from './admin/get-log-page.js'
import { ActiveNamespaceList, AllocatedNamespaceList, CNS, CSI, Identify } from './admin/identify.js'
import { IdentifyController } from './admin/identify-controller.js'
import { NamespaceIdDescriptor, NIDT } from './admin/identify-descriptors.js'
import { IdentifyIndependentNamespace } from './admin/identify-independent.js'
import {
  ControllerList,
  DomainAttributes,
  DomainList,
  EnduranceGroupList,
  IoCommandSets,
  IoCommandSetVector,
  NvmSetAttributes,
  NvmSetList,
  UuidList,
  UuidListEntry,
} from './admin/identify-lists.js'
import { PowerStateDescriptor } from './admin/identify-power-state.js'
import {
  PrimaryControllerCapabilities,
  SecondaryController,
  SecondaryControllerList,
} from './admin/identify-virtualization.js'
import { KeepAlive } from './admin/keep-alive.js'
import { Lockdown } from './admin/lockdown.js'
import { ANA_STATE, AnaGroupDescriptor, AnaLogHeader } from './admin/log-ana.js'
import { BootPartitionHeader } from './admin/log-boot-partition.js'
import {
  CapacityConfigurationDescriptor,
  CapacityConfigurationListHeader,
  ChannelConfigurationDescriptor,
  EnduranceGroupConfigurationDescriptor,
  MediaUnitConfigurationDescriptor,
  MediaUnitStatusDescriptor,
  MediaUnitStatusHeader,
} from './admin/log-capacity.js'
import {
  CommandEffects,
  CommandEffectsLog,
  FeatureEffects,
  FeatureEffectsLog,
  ManagementCommandEffects,
  ManagementCommandEffectsLog,
} from './admin/log-effects.js'
import { EnduranceGroupEventAggregate, EnduranceGroupLog, RotationalMediaLog } from './admin/log-endurance.js'
import { ErrorLogEntry } from './admin/log-error.js'
import {
  FdpConfigurationDescriptor,
  FdpConfigurationsHeader,
  FdpEvent,
  FdpEventsHeader,
  FdpStatisticsLog,
  MediaReallocated,
  ReclaimUnitHandleDescriptor,
  ReclaimUnitHandleUsageDescriptor,
  ReclaimUnitHandleUsageHeader,
} from './admin/log-fdp.js'
import { FirmwareSlotLog } from './admin/log-firmware.js'
import {
  EnduranceGroupWarning,
  HardwareErrorEvent,
  PcieHardwareError,
  ReadyTimeoutExceeded,
  UnexpectedPowerLoss,
} from './admin/log-hardware-error.js'
import { LID } from './admin/log-identifiers.js'
import { PredictableLatencyEventAggregate, PredictableLatencyLog } from './admin/log-latency.js'
import { LbaRangeDescriptor, LbaStatusLogHeader, LbaStatusNamespaceElement } from './admin/log-lba-status.js'
import { LockdownLog } from './admin/log-lockdown.js'
import { ChangedAllocatedNamespaceList, ChangedAttachedNamespaceList } from './admin/log-namespaces.js'
import {
  AnaLsp,
  BootPartitionLsp,
  FdpEventsLsp,
  LockdownLsp,
  PersistentEventLidsp,
  PersistentEventLsp,
  ReachabilityAssociationsLsp,
  ReachabilityGroupsLsp,
  TelemetryHostLidsp,
  TelemetryHostLsp,
} from './admin/log-parameters.js'
import { PERSISTENT_EVENT, PersistentEventHeader, PersistentEventLogHeader } from './admin/log-persistent-event.js'
import {
  ChangeNamespaceEvent,
  ControllerResetInformation,
  FirmwareCommitEvent,
  FormatCompletionEvent,
  FormatStartEvent,
  PowerOnOrResetEvent,
  SanitizeCompletionEvent,
  SanitizeStartEvent,
  SetFeatureEvent,
  ThermalExcursionEvent,
  TimestampChangeEvent,
  VendorSpecificEventDescriptor,
} from './admin/log-persistent-event-data.js'
import {
  ReachabilityAssociationDescriptor,
  ReachabilityAssociationsHeader,
  ReachabilityGroupDescriptor,
  ReachabilityGroupsHeader,
} from './admin/log-reachability.js'
import { ReservationNotificationLog } from './admin/log-reservation.js'
import { SanitizeStatusLog } from './admin/log-sanitize.js'
import { SelfTestLog, SelfTestResult } from './admin/log-self-test.js'
import { SmartHealthLog } from './admin/log-smart.js'
import {
  ManagementAddressDescriptor,
  ManagementAddressList,
  ParticipatingNvmSubsystemsHeader,
} from './admin/log-subsystem.js'
import { LogPageSupport, SupportedLogPages } from './admin/log-supported.js'
import { TelemetryControllerHeader, TelemetryHostHeader } from './admin/log-telemetry.js'
import { ChangedZoneList } from './admin/log-zones.js'
import {
  NamespaceAttachment,
  NamespaceManagement,
  NamespaceManagementDw0,
  NamespaceToCreate,
} from './admin/namespace-management.js'
import { NvmeMiReceive, NvmeMiSend } from './admin/nvme-mi.js'
import { ADMIN_OPCODE } from './admin/opcodes.js'
import { CreateIoCq, CreateIoSq, DeleteIoCq, DeleteIoSq } from './admin/queues.js'
import { Sanitize } from './admin/sanitize.js'
import { SecurityReceive, SecuritySend } from './admin/security.js'
import { DeviceSelfTest } from './admin/self-test.js'
import { VirtualizationManagement } from './admin/virtualization.js'
import { CQE } from './cqe.js'
import { CQyHDBL, SQyTDBL } from './doorbells.js'
import { Cancel, CancelDw0 } from './nvm/cancel.js'
import { Compare, Verify } from './nvm/compare-verify.js'
import { Copy, CopyRange0, CopyRange1, CopyRange2, CopyRange3 } from './nvm/copy.js'
import { DatasetManagement, DatasetManagementRange } from './nvm/dataset-management.js'
import { ErrorRecovery } from './nvm/feature/error-recovery.js'
import { LbaRange, LbaRanges, LbaRangeType } from './nvm/feature/lba-range-type.js'
import { LbaStatusInformationAttributes } from './nvm/feature/lba-status-information.js'
import {
  PerformanceAttributeIdentifiers,
  PerformanceCharacteristics,
  StandardPerformanceAttribute,
  VendorSpecificPerformanceAttribute,
} from './nvm/feature/performance-characteristics.js'
import { WriteAtomicityNormal } from './nvm/feature/write-atomicity-normal.js'
import { Flush } from './nvm/flush.js'
import { IdentifyNvmController, IdentifyNvmNamespace } from './nvm/identify-command-set.js'
import { NamespaceGranularity, NamespaceGranularityList } from './nvm/identify-granularity.js'
import { IdentifyNamespace } from './nvm/identify-namespace.js'
import {
  IoManagementReceive,
  IoManagementSend,
  ReclaimUnitHandleStatus,
  ReclaimUnitHandleStatusDescriptor,
} from './nvm/io-management.js'
import { CommandExtensionCdw13, DSM, PRINFO } from './nvm/io-words.js'
import { NVM_OPCODE } from './nvm/opcodes.js'
import {
  ProtectionInformation16,
  ProtectionInformation32,
  ProtectionInformation64,
} from './nvm/protection-information.js'
import { Read, Write } from './nvm/read-write.js'
import {
  Registrant,
  RegistrantExtended,
  RESERVATION_TYPE,
  ReservationAcquire,
  ReservationAcquireData,
  ReservationRegister,
  ReservationRegisterData,
  ReservationRelease,
  ReservationReleaseData,
  ReservationReport,
  ReservationStatus,
  ReservationStatusExtended,
} from './nvm/reservations.js'
import { WriteUncorrectable, WriteZeroes, WriteZeroesDw0 } from './nvm/write-zeroes.js'
import { AdvancedErrorReporting } from './pci/aer.js'
import { PCI_CAPABILITY, PCI_EXTENDED_CAPABILITY, PciCapability, PciExtendedCapability } from './pci/capabilities.js'
import { PciExpressCapability } from './pci/express.js'
import { PciHeader } from './pci/header.js'
import { MsixCapability, MsixTableEntry } from './pci/msi-x.js'
import {
  AccessControlServices,
  AddressTranslationServices,
  DownstreamPortContainment,
  ResizableBarEntry,
} from './pci/peer-to-peer.js'
import { PowerManagementCapability } from './pci/power-management.js'
import { KeyedSglDataBlock, SGL_SUB_TYPE, SGL_TYPE, SglBitBucket, SglDataBlock, SglDescriptor } from './sgl.js'
import { SglLastSegment, SglSegment, TransportSglDataBlock } from './sgl.js'
import { SQE } from './sqe.js'
import { ZNS_OPCODE } from './zns/opcodes.js'
import { ZoneAppend, ZoneAppendCompletion } from './zns/zone-append.js'
import { ZoneManagementReceive, ZoneManagementSend, ZoneManagementSendDw0 } from './zns/zone-management.js'
import { ReportZones, ZONE_STATE, ZONE_TYPE, ZoneDescriptor } from './zns/zone-report.js'
import { IdentifyZonedController, IdentifyZonedNamespace, ZonedLbaFormat } from './zns/identify.js'

/** Every command, in order of command set and opcode. */
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

/** Every structure other than commands. */
export const allStructs: readonly AnyStruct[] = [
  SQE,
  CQE,
  ActiveNamespaceList,
  AllocatedNamespaceList,
  IdentifyController,
  PowerStateDescriptor,
  IdentifyNamespace,
  NamespaceIdDescriptor,
  NvmSetAttributes,
  NvmSetList,
  IdentifyNvmNamespace,
  IdentifyNvmController,
  ZonedLbaFormat,
  IdentifyZonedNamespace,
  IdentifyZonedController,
  IdentifyIndependentNamespace,
  ControllerList,
  PrimaryControllerCapabilities,
  SecondaryController,
  SecondaryControllerList,
  NamespaceGranularity,
  NamespaceGranularityList,
  UuidListEntry,
  UuidList,
  DomainAttributes,
  DomainList,
  EnduranceGroupList,
  IoCommandSetVector,
  IoCommandSets,
  NamespaceToCreate,
  SupportedLogPages,
  ErrorLogEntry,
  SmartHealthLog,
  FirmwareSlotLog,
  ChangedAttachedNamespaceList,
  ChangedAllocatedNamespaceList,
  CommandEffectsLog,
  FeatureEffectsLog,
  ManagementCommandEffectsLog,
  SelfTestResult,
  SelfTestLog,
  TelemetryHostHeader,
  TelemetryControllerHeader,
  EnduranceGroupLog,
  EnduranceGroupEventAggregate,
  RotationalMediaLog,
  PredictableLatencyLog,
  PredictableLatencyEventAggregate,
  AnaLogHeader,
  AnaGroupDescriptor,
  PersistentEventLogHeader,
  PersistentEventHeader,
  FirmwareCommitEvent,
  TimestampChangeEvent,
  PowerOnOrResetEvent,
  ControllerResetInformation,
  ChangeNamespaceEvent,
  FormatStartEvent,
  FormatCompletionEvent,
  SanitizeStartEvent,
  SanitizeCompletionEvent,
  SetFeatureEvent,
  ThermalExcursionEvent,
  VendorSpecificEventDescriptor,
  HardwareErrorEvent,
  PcieHardwareError,
  EnduranceGroupWarning,
  UnexpectedPowerLoss,
  ReadyTimeoutExceeded,
  LbaStatusLogHeader,
  LbaStatusNamespaceElement,
  LbaRangeDescriptor,
  MediaUnitStatusHeader,
  MediaUnitStatusDescriptor,
  CapacityConfigurationListHeader,
  CapacityConfigurationDescriptor,
  EnduranceGroupConfigurationDescriptor,
  ChannelConfigurationDescriptor,
  MediaUnitConfigurationDescriptor,
  LockdownLog,
  BootPartitionHeader,
  ParticipatingNvmSubsystemsHeader,
  ManagementAddressDescriptor,
  ManagementAddressList,
  ReachabilityGroupsHeader,
  ReachabilityGroupDescriptor,
  ReachabilityAssociationsHeader,
  ReachabilityAssociationDescriptor,
  FdpConfigurationsHeader,
  FdpConfigurationDescriptor,
  ReclaimUnitHandleDescriptor,
  ReclaimUnitHandleUsageHeader,
  ReclaimUnitHandleUsageDescriptor,
  FdpStatisticsLog,
  FdpEventsHeader,
  FdpEvent,
  MediaReallocated,
  ReservationNotificationLog,
  SanitizeStatusLog,
  ChangedZoneList,
  IdentifyDirectiveParameters,
  StreamsDirectiveParameters,
  StreamsDirectiveStatus,
  LbaStatusDescriptorList,
  LbaStatusDescriptor,
  LbaRange,
  LbaRanges,
  AutonomousPowerStateTransitionEntry,
  AutonomousPowerStateTransitions,
  HostMemoryBufferDescriptor,
  HostMemoryBufferAttributes,
  TimestampData,
  DeterministicThresholdConfiguration,
  HostBehavior,
  StandardPerformanceAttribute,
  PerformanceAttributeIdentifiers,
  VendorSpecificPerformanceAttribute,
  SupportedFdpEvent,
  ControllerDataQueueData,
  EmbeddedManagementControllerAddressData,
  HostManagementAgentAddressData,
  HostMetadata,
  MetadataElement,
  HostIdentifierData,
  SglDescriptor,
  SglDataBlock,
  SglBitBucket,
  SglSegment,
  SglLastSegment,
  KeyedSglDataBlock,
  TransportSglDataBlock,
  DatasetManagementRange,
  CopyRange0,
  CopyRange1,
  CopyRange2,
  CopyRange3,
  ProtectionInformation16,
  ProtectionInformation32,
  ProtectionInformation64,
  ReservationRegisterData,
  ReservationAcquireData,
  ReservationReleaseData,
  ReservationStatus,
  ReservationStatusExtended,
  Registrant,
  RegistrantExtended,
  ReclaimUnitHandleStatus,
  ReclaimUnitHandleStatusDescriptor,
  ZoneAppendCompletion,
  ReportZones,
  ZoneDescriptor,
  PciHeader,
  PciCapability,
  PciExtendedCapability,
  PowerManagementCapability,
  MsixCapability,
  MsixTableEntry,
  PciExpressCapability,
  AdvancedErrorReporting,
  AccessControlServices,
  AddressTranslationServices,
  ResizableBarEntry,
  DownstreamPortContainment,
]

/** Every feature, in order of identifier. */
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

/** Every table of numbers. */
export const allCodes: readonly AnyCodes[] = [
  CNS,
  CSI,
  NIDT,
  FID,
  ADMIN_OPCODE,
  DIRECTIVE_TYPE,
  IDENTIFY_DIRECTIVE_SEND,
  STREAMS_DIRECTIVE_SEND,
  CONTROLLER_METADATA_ELEMENT,
  NAMESPACE_METADATA_ELEMENT,
  LID,
  ANA_STATE,
  PERSISTENT_EVENT,
  AET,
  AEI_ERROR,
  AEI_SMART,
  AEI_NOTICE,
  AEI_IO_COMMAND,
  AEI_IMMEDIATE,
  AEI_ONE_SHOT,
  SGL_TYPE,
  SGL_SUB_TYPE,
  NVM_OPCODE,
  RESERVATION_TYPE,
  ZNS_OPCODE,
  ZONE_TYPE,
  ZONE_STATE,
  PCI_CAPABILITY,
  PCI_EXTENDED_CAPABILITY,
]

/** Every dword other than registers and those of features. */
export const allWords: readonly AnyWord32[] = [
  SQyTDBL,
  CQyHDBL,
  AbortDw0,
  AsyncEventDw0,
  AsyncEventDw1,
  SupportedCapabilitiesDw0,
  FirmwareUpdateDw0,
  NamespaceManagementDw0,
  EnableDirectiveCdw12,
  AllocateResourcesCdw12,
  AllocateResourcesDw0,
  CapacityManagementDw0,
  PRINFO,
  DSM,
  CommandExtensionCdw13,
  WriteZeroesDw0,
  CancelDw0,
  ZoneManagementSendDw0,
  LogPageSupport,
  CommandEffects,
  FeatureEffects,
  ManagementCommandEffects,
  TelemetryHostLsp,
  AnaLsp,
  PersistentEventLsp,
  LockdownLsp,
  BootPartitionLsp,
  ReachabilityGroupsLsp,
  ReachabilityAssociationsLsp,
  FdpEventsLsp,
  TelemetryHostLidsp,
  PersistentEventLidsp,
]
