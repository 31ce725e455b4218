import { IdentifyController } from './identify-controller.js'
import {
  ActiveNamespaceList,
  AllocatedNamespaceList,
  CNS,
  ControllerList,
  CSI,
  DomainList,
  EnduranceGroupList,
  IdentifyIndependentNamespace,
  IoCommandSets,
  NvmSetList,
  PrimaryControllerCapabilities,
  SecondaryControllerList,
  UuidList,
} from './identify.js'
import {
  ChangeNamespaceEvent,
  FirmwareCommitEvent,
  FormatCompletionEvent,
  FormatStartEvent,
  HardwareErrorEvent,
  PersistentEventLogHeader,
  PowerOnOrResetEvent,
  SanitizeCompletionEvent,
  SanitizeStartEvent,
  SetFeatureEvent,
  ThermalExcursionEvent,
  TimestampChangeEvent,
  VendorSpecificEventDescriptor,
} from './logs-events.js'
import {
  BootPartitionHeader,
  ChangedAllocatedNamespaceList,
  ChangedAttachedNamespaceList,
  CommandEffectsLog,
  ErrorLogEntry,
  FeatureEffectsLog,
  FirmwareSlotLog,
  LockdownLog,
  ManagementCommandEffectsLog,
  SanitizeStatusLog,
  SelfTestLog,
  SmartHealthLog,
  TelemetryControllerHeader,
  TelemetryHostHeader,
} from './logs-health.js'
import {
  CapacityConfigurationListHeader,
  ChangedZoneList,
  EnduranceGroupEventAggregate,
  EnduranceGroupLog,
  FdpConfigurationsHeader,
  FdpEventsHeader,
  FdpStatisticsLog,
  LbaStatusLogHeader,
  MediaUnitStatusHeader,
  PredictableLatencyEventAggregate,
  PredictableLatencyLog,
  ReclaimUnitHandleUsageHeader,
  ReservationNotificationLog,
  RotationalMediaLog,
} from './logs-media.js'
import {
  AnaLogHeader,
  ManagementAddressList,
  ParticipatingNvmSubsystemsHeader,
  ReachabilityAssociationsHeader,
  ReachabilityGroupsHeader,
} from './logs-paths.js'
import { SupportedLogPages } from './logs.js'
import type { AnyStruct } from '../layout/structs.js'
import {
  IdentifyNamespace,
  IdentifyNvmController,
  IdentifyNvmNamespace,
  NamespaceGranularityList,
} from '../nvm/identify.js'
import { IdentifyZonedController, IdentifyZonedNamespace } from '../zns.js'

const namespaceOf = /*#__PURE__*/ new Map<number, AnyStruct>([
  [CSI.NVM, IdentifyNvmNamespace],
  [CSI.ZNS, IdentifyZonedNamespace],
])
const controllerOf = /*#__PURE__*/ new Map<number, AnyStruct>([
  [CSI.NVM, IdentifyNvmController],
  [CSI.ZNS, IdentifyZonedController],
])

const identifyStructures = /*#__PURE__*/ new Map<number, AnyStruct>([
  [CNS.NAMESPACE, IdentifyNamespace],
  [CNS.CONTROLLER, IdentifyController],
  [CNS.ACTIVE_NAMESPACE_LIST, ActiveNamespaceList],
  [CNS.NVM_SET_LIST, NvmSetList],
  [CNS.COMMAND_SET_ACTIVE_NAMESPACE_LIST, ActiveNamespaceList],
  [CNS.INDEPENDENT_NAMESPACE, IdentifyIndependentNamespace],
  [CNS.FORMAT_NAMESPACE, IdentifyNamespace],
  [CNS.ALLOCATED_NAMESPACE_LIST, AllocatedNamespaceList],
  [CNS.ALLOCATED_NAMESPACE, IdentifyNamespace],
  [CNS.ATTACHED_CONTROLLER_LIST, ControllerList],
  [CNS.CONTROLLER_LIST, ControllerList],
  [CNS.PRIMARY_CONTROLLER_CAPABILITIES, PrimaryControllerCapabilities],
  [CNS.SECONDARY_CONTROLLER_LIST, SecondaryControllerList],
  [CNS.NAMESPACE_GRANULARITY_LIST, NamespaceGranularityList],
  [CNS.UUID_LIST, UuidList],
  [CNS.DOMAIN_LIST, DomainList],
  [CNS.ENDURANCE_GROUP_LIST, EnduranceGroupList],
  [CNS.COMMAND_SET_ALLOCATED_NAMESPACE_LIST, AllocatedNamespaceList],
  [CNS.COMMAND_SETS, IoCommandSets],
  [CNS.INDEPENDENT_ALLOCATED_NAMESPACE, IdentifyIndependentNamespace],
])

/**
 * Returns the structure of Identify data by CNS, and by Command Set Identifier if the CNS uses one. Undefined if none
 * is declared. The list of CNS 03h has entries of different lengths: read it with `namespaceIds`. Each structure has
 * its source as `spec`.
 */
export function identifyStructure(cns: number, csi = 0): AnyStruct | undefined {
  switch (cns) {
    case CNS.COMMAND_SET_NAMESPACE:
    case CNS.COMMAND_SET_FORMAT_NAMESPACE:
    case CNS.COMMAND_SET_ALLOCATED_NAMESPACE:
      return namespaceOf.get(csi)
    case CNS.COMMAND_SET_CONTROLLER:
      return controllerOf.get(csi)
    default:
      return identifyStructures.get(cns)
  }
}

// Numbers of LID and PERSISTENT_EVENT: repeating their names would add a quarter of a kilobyte to a browser bundle.
const logStructures = /*#__PURE__*/ new Map<number, AnyStruct>([
  [0x00, SupportedLogPages],
  [0x01, ErrorLogEntry],
  [0x02, SmartHealthLog],
  [0x03, FirmwareSlotLog],
  [0x04, ChangedAttachedNamespaceList],
  [0x05, CommandEffectsLog],
  [0x06, SelfTestLog],
  [0x07, TelemetryHostHeader],
  [0x08, TelemetryControllerHeader],
  [0x09, EnduranceGroupLog],
  [0x0a, PredictableLatencyLog],
  [0x0b, PredictableLatencyEventAggregate],
  [0x0c, AnaLogHeader],
  [0x0d, PersistentEventLogHeader],
  [0x0e, LbaStatusLogHeader],
  [0x0f, EnduranceGroupEventAggregate],
  [0x10, MediaUnitStatusHeader],
  [0x11, CapacityConfigurationListHeader],
  [0x12, FeatureEffectsLog],
  [0x13, ManagementCommandEffectsLog],
  [0x14, LockdownLog],
  [0x15, BootPartitionHeader],
  [0x16, RotationalMediaLog],
  [0x17, ParticipatingNvmSubsystemsHeader],
  [0x18, ManagementAddressList],
  [0x1a, ReachabilityGroupsHeader],
  [0x1b, ReachabilityAssociationsHeader],
  [0x1c, ChangedAllocatedNamespaceList],
  [0x20, FdpConfigurationsHeader],
  [0x21, ReclaimUnitHandleUsageHeader],
  [0x22, FdpStatisticsLog],
  [0x23, FdpEventsHeader],
  [0x80, ReservationNotificationLog],
  [0x81, SanitizeStatusLog],
  [0xbf, ChangedZoneList],
])

/**
 * Returns the structure of a log page by its identifier; undefined if none is declared. For a page of variable length
 * it is the header, followed by entries of another structure; for Error Information it is one entry. Each structure has
 * its source as `spec`.
 */
export function logStructure(lid: number): AnyStruct | undefined {
  return logStructures.get(lid)
}

const eventData = /*#__PURE__*/ new Map<number, AnyStruct>([
  [0x01, SmartHealthLog],
  [0x02, FirmwareCommitEvent],
  [0x03, TimestampChangeEvent],
  [0x04, PowerOnOrResetEvent],
  [0x05, HardwareErrorEvent],
  [0x06, ChangeNamespaceEvent],
  [0x07, FormatStartEvent],
  [0x08, FormatCompletionEvent],
  [0x09, SanitizeStartEvent],
  [0x0a, SanitizeCompletionEvent],
  [0x0b, SetFeatureEvent],
  [0x0d, ThermalExcursionEvent],
  [0xde, VendorSpecificEventDescriptor],
])

/**
 * Returns the structure of a persistent event's data by its type; for data of variable length, their beginning.
 * Undefined for data without a declared structure. Telemetry Log Created events have a telemetry header, whose LID
 * tells which one. Each structure has its source as `spec`.
 */
export function persistentEventData(type: number): AnyStruct | undefined {
  return eventData.get(type)
}
