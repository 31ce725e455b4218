export { CapacityManagement, CapacityManagementDw0 } from './admin/capacity-management.js'
export {
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
export { DoorbellBufferConfig } from './admin/doorbell-buffer.js'
export {
  Abort,
  AbortDw0,
  AEI_ERROR,
  AEI_IMMEDIATE,
  AEI_IO_COMMAND,
  AEI_NOTICE,
  AEI_ONE_SHOT,
  AEI_SMART,
  AET,
  AsyncEventDw0,
  AsyncEventDw1,
  AsyncEventRequest,
  eventInformation,
  formatAsyncEvent,
} from './admin/events.js'
export { Arbitration } from './admin/feature/arbitration.js'
export { AsynchronousEventConfiguration } from './admin/feature/asynchronous-event-configuration.js'
export { ControllerDataQueue, ControllerDataQueueData } from './admin/feature/controller-data-queue.js'
export { EnduranceGroupEventConfiguration } from './admin/feature/endurance-group-event.js'
export {
  FlexibleDataPlacement,
  FlexibleDataPlacementEvents,
  SupportedFdpEvent,
} from './admin/feature/flexible-data-placement.js'
export { HostBehavior, HostBehaviorSupport } from './admin/feature/host-behavior-support.js'
export { HostIdentifier, HostIdentifierData } from './admin/feature/host-identifier.js'
export {
  HostMemoryBuffer,
  HostMemoryBufferAttributes,
  HostMemoryBufferDescriptor,
} from './admin/feature/host-memory-buffer.js'
export {
  CONTROLLER_METADATA_ELEMENT,
  ControllerMetadata,
  EnhancedControllerMetadata,
  HostMetadata,
  MetadataElement,
  NAMESPACE_METADATA_ELEMENT,
  NamespaceMetadata,
} from './admin/feature/host-metadata.js'
export { InterruptCoalescing, InterruptVectorConfiguration } from './admin/feature/interrupts.js'
export { IoCommandSetProfile } from './admin/feature/io-command-set-profile.js'
export { KeepAliveTimer } from './admin/feature/keep-alive-timer.js'
export {
  EmbeddedManagementControllerAddress,
  EmbeddedManagementControllerAddressData,
  HostManagementAgentAddress,
  HostManagementAgentAddressData,
} from './admin/feature/management-address.js'
export { NumberOfQueues } from './admin/feature/number-of-queues.js'
export {
  AutonomousPowerStateTransition,
  AutonomousPowerStateTransitionEntry,
  AutonomousPowerStateTransitions,
  HostControlledThermalManagement,
  NonOperationalPowerStateConfig,
  PowerLossSignalingConfig,
  PowerManagement,
  SpinupControl,
} from './admin/feature/power.js'
export {
  DeterministicThresholdConfiguration,
  PredictableLatencyModeConfig,
  PredictableLatencyModeWindow,
} from './admin/feature/predictable-latency.js'
export { ReadRecoveryLevelConfig } from './admin/feature/read-recovery-level.js'
export { ReservationNotificationMask, ReservationPersistence } from './admin/feature/reservation.js'
export { SanitizeConfig } from './admin/feature/sanitize-config.js'
export { SoftwareProgressMarker } from './admin/feature/software-progress-marker.js'
export { TemperatureThreshold } from './admin/feature/temperature-threshold.js'
export { Timestamp, TimestampData } from './admin/feature/timestamp.js'
export { VolatileWriteCache } from './admin/feature/volatile-write-cache.js'
export { BootPartitionWriteProtectionConfig, NamespaceWriteProtectionConfig } from './admin/feature/write-protection.js'
export { FID, GetFeatures, SetFeatures, SupportedCapabilitiesDw0 } from './admin/features.js'
export { FirmwareCommit, FirmwareImageDownload, FirmwareUpdateDw0 } from './admin/firmware.js'
export { FormatNvm } from './admin/format.js'
export { GetLbaStatus, LbaStatusDescriptor, LbaStatusDescriptorList } from './admin/get-lba-status.js'
export { GetLogPage, logPagePart, type LogPagePart } from './admin/get-log-page.js'
export { ActiveNamespaceList, AllocatedNamespaceList, CNS, CSI, Identify, IDENTIFY_BYTES } from './admin/identify.js'
export { IdentifyController } from './admin/identify-controller.js'
export { NamespaceIdDescriptor, namespaceIds, NIDT, type NamespaceId } from './admin/identify-descriptors.js'
export { IdentifyIndependentNamespace } from './admin/identify-independent.js'
export {
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
export { PowerStateDescriptor } from './admin/identify-power-state.js'
export { identifyStructure } from './admin/identify-structure.js'
export {
  PrimaryControllerCapabilities,
  SecondaryController,
  SecondaryControllerList,
} from './admin/identify-virtualization.js'
export { KeepAlive } from './admin/keep-alive.js'
export { Lockdown } from './admin/lockdown.js'
export { ANA_STATE, AnaGroupDescriptor, AnaLogHeader } from './admin/log-ana.js'
export { BootPartitionHeader } from './admin/log-boot-partition.js'
export {
  CapacityConfigurationDescriptor,
  CapacityConfigurationListHeader,
  ChannelConfigurationDescriptor,
  EnduranceGroupConfigurationDescriptor,
  MediaUnitConfigurationDescriptor,
  MediaUnitStatusDescriptor,
  MediaUnitStatusHeader,
} from './admin/log-capacity.js'
export {
  CommandEffects,
  CommandEffectsLog,
  FeatureEffects,
  FeatureEffectsLog,
  ManagementCommandEffects,
  ManagementCommandEffectsLog,
} from './admin/log-effects.js'
export { EnduranceGroupEventAggregate, EnduranceGroupLog, RotationalMediaLog } from './admin/log-endurance.js'
export { ErrorLogEntry } from './admin/log-error.js'
export {
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
export { FirmwareSlotLog } from './admin/log-firmware.js'
export {
  EnduranceGroupWarning,
  HardwareErrorEvent,
  PcieHardwareError,
  ReadyTimeoutExceeded,
  UnexpectedPowerLoss,
} from './admin/log-hardware-error.js'
export { LID } from './admin/log-identifiers.js'
export { PredictableLatencyEventAggregate, PredictableLatencyLog } from './admin/log-latency.js'
export { LbaRangeDescriptor, LbaStatusLogHeader, LbaStatusNamespaceElement } from './admin/log-lba-status.js'
export { LockdownLog } from './admin/log-lockdown.js'
export { ChangedAllocatedNamespaceList, ChangedAttachedNamespaceList } from './admin/log-namespaces.js'
export { logStructure, persistentEventData } from './admin/log-pages.js'
export {
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
export { PERSISTENT_EVENT, PersistentEventHeader, PersistentEventLogHeader } from './admin/log-persistent-event.js'
export {
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
export {
  ReachabilityAssociationDescriptor,
  ReachabilityAssociationsHeader,
  ReachabilityGroupDescriptor,
  ReachabilityGroupsHeader,
} from './admin/log-reachability.js'
export { ReservationNotificationLog } from './admin/log-reservation.js'
export { SanitizeStatusLog } from './admin/log-sanitize.js'
export { SelfTestLog, SelfTestResult } from './admin/log-self-test.js'
export { SmartHealthLog } from './admin/log-smart.js'
export {
  ManagementAddressDescriptor,
  ManagementAddressList,
  ParticipatingNvmSubsystemsHeader,
} from './admin/log-subsystem.js'
export { LogPageSupport, SupportedLogPages } from './admin/log-supported.js'
export { TELEMETRY_BLOCK_BYTES, TelemetryControllerHeader, TelemetryHostHeader } from './admin/log-telemetry.js'
export { ChangedZoneList } from './admin/log-zones.js'
export {
  NamespaceAttachment,
  NamespaceManagement,
  NamespaceManagementDw0,
  NamespaceToCreate,
} from './admin/namespace-management.js'
export { NvmeMiReceive, NvmeMiSend } from './admin/nvme-mi.js'
export { ADMIN_OPCODE } from './admin/opcodes.js'
export { CreateIoCq, CreateIoSq, DeleteIoCq, DeleteIoSq } from './admin/queues.js'
export { Sanitize } from './admin/sanitize.js'
export { SecurityReceive, SecuritySend } from './admin/security.js'
export { DeviceSelfTest } from './admin/self-test.js'
export { VirtualizationManagement } from './admin/virtualization.js'
export { commandOf, decodeSqe, encodeSqe, formatSqe, type DecodedSqe } from './commands.js'
export { CQE, decodeCqe, formatCqe, type DecodedCqe } from './cqe.js'
export { cqHeadDoorbell, CQyHDBL, DOORBELL_BASE, sqTailDoorbell, SQyTDBL } from './doorbells.js'
export { GpuNvmeError, type ErrorCategory, type ErrorDetails } from './error.js'
export { countOf, zeroBased, type ZeroBased } from './layout/zero-based.js'
export { MAX_BLOCKS_PER_COMMAND, maxTransferBytes, memoryPageBytes } from './limits.js'
export { Cancel, CancelDw0 } from './nvm/cancel.js'
export { Compare, Verify } from './nvm/compare-verify.js'
export { Copy, CopyRange0, CopyRange1, CopyRange2, CopyRange3 } from './nvm/copy.js'
export { DatasetManagement, DatasetManagementRange } from './nvm/dataset-management.js'
export { ErrorRecovery } from './nvm/feature/error-recovery.js'
export { LbaRange, LbaRanges, LbaRangeType } from './nvm/feature/lba-range-type.js'
export { LbaStatusInformationAttributes } from './nvm/feature/lba-status-information.js'
export {
  PerformanceAttributeIdentifiers,
  PerformanceCharacteristics,
  StandardPerformanceAttribute,
  VendorSpecificPerformanceAttribute,
} from './nvm/feature/performance-characteristics.js'
export { WriteAtomicityNormal } from './nvm/feature/write-atomicity-normal.js'
export { Flush } from './nvm/flush.js'
export { IdentifyNvmController, IdentifyNvmNamespace } from './nvm/identify-command-set.js'
export { NamespaceGranularity, NamespaceGranularityList } from './nvm/identify-granularity.js'
export { IdentifyNamespace, lbaFormatIndex } from './nvm/identify-namespace.js'
export {
  IoManagementReceive,
  IoManagementSend,
  ReclaimUnitHandleStatus,
  ReclaimUnitHandleStatusDescriptor,
} from './nvm/io-management.js'
export { CommandExtensionCdw13, DSM, PRINFO } from './nvm/io-words.js'
export {
  packTags,
  unpackTags,
  type GuardBits,
  type LogicalBlockTags,
  type TagDwords,
} from './nvm/logical-block-tags.js'
export { NVM_OPCODE } from './nvm/opcodes.js'
export {
  fromBigEndian,
  ProtectionInformation16,
  ProtectionInformation32,
  ProtectionInformation64,
  toBigEndian,
} from './nvm/protection-information.js'
export { Read, Write } from './nvm/read-write.js'
export {
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
export { WriteUncorrectable, WriteZeroes, WriteZeroesDw0 } from './nvm/write-zeroes.js'
export { layPrps, prpEntries, prpListBytes, prpListReach, type PrpMemory } from './prp.js'
export { formatRegisterAt, registerAt, registerNameAt } from './register-at.js'
export { BPINFO, BPMBL, BPRSEL } from './registers-boot.js'
export { CMBEBS, CMBLOC, CMBMSC, CMBSTS, CMBSWTP, CMBSZ } from './registers-cmb.js'
export { PMRCAP, PMRCTL, PMREBS, PMRMSCL, PMRMSCU, PMRSTS, PMRSWTP } from './registers-pmr.js'
export {
  ACQ,
  AQA,
  ASQ,
  CAP,
  CC,
  CRTO,
  CSTS,
  INTMC,
  INTMS,
  NSSD,
  NSSR,
  registers,
  registersOf,
  VS,
} from './registers.js'
export {
  decodeSglDescriptor,
  encodeSglDescriptor,
  formatSglDescriptor,
  KeyedSglDataBlock,
  SGL1_OFFSET,
  SGL_DESCRIPTOR_BYTES,
  SGL_SUB_TYPE,
  SGL_TYPE,
  SglBitBucket,
  SglDataBlock,
  SglDescriptor,
  SglLastSegment,
  SglSegment,
  TransportSglDataBlock,
  type DecodedSglDescriptor,
} from './sgl.js'
export { mustRing, shadowCqHead, shadowSqTail } from './shadow-doorbells.js'
export { SQE } from './sqe.js'
export { FABRICS_STATUS } from './status-fabrics.js'
export {
  formatStatus,
  mayRetry,
  STATUS,
  statusName,
  statusOf,
  type Retry,
  type Status,
  type StatusCode,
  type StatusScope,
  type StatusTable,
} from './status.js'
export { IdentifyZonedController, IdentifyZonedNamespace, ZonedLbaFormat } from './zns/identify.js'
export { ZNS_OPCODE } from './zns/opcodes.js'
export { ZoneAppend, ZoneAppendCompletion } from './zns/zone-append.js'
export { ZoneManagementReceive, ZoneManagementSend, ZoneManagementSendDw0 } from './zns/zone-management.js'
export { ReportZones, ZONE_STATE, ZONE_TYPE, ZoneDescriptor, zoneDescriptorOffset } from './zns/zone-report.js'
