import type { AnyStruct } from '../layout/struct.js'
import { AnaLogHeader } from './log-ana.js'
import { BootPartitionHeader } from './log-boot-partition.js'
import { CapacityConfigurationListHeader, MediaUnitStatusHeader } from './log-capacity.js'
import { CommandEffectsLog, FeatureEffectsLog, ManagementCommandEffectsLog } from './log-effects.js'
import { EnduranceGroupEventAggregate, EnduranceGroupLog, RotationalMediaLog } from './log-endurance.js'
import { ErrorLogEntry } from './log-error.js'
import { FdpConfigurationsHeader, FdpEventsHeader, FdpStatisticsLog, ReclaimUnitHandleUsageHeader } from './log-fdp.js'
import { FirmwareSlotLog } from './log-firmware.js'
import { HardwareErrorEvent } from './log-hardware-error.js'
import { LID } from './log-identifiers.js'
import { PredictableLatencyEventAggregate, PredictableLatencyLog } from './log-latency.js'
import { LbaStatusLogHeader } from './log-lba-status.js'
import { LockdownLog } from './log-lockdown.js'
import { ChangedAllocatedNamespaceList, ChangedAttachedNamespaceList } from './log-namespaces.js'
import { PERSISTENT_EVENT, PersistentEventLogHeader } from './log-persistent-event.js'
import {
  ChangeNamespaceEvent,
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
} from './log-persistent-event-data.js'
import { ReachabilityAssociationsHeader, ReachabilityGroupsHeader } from './log-reachability.js'
import { ReservationNotificationLog } from './log-reservation.js'
import { SanitizeStatusLog } from './log-sanitize.js'
import { SelfTestLog } from './log-self-test.js'
import { SmartHealthLog } from './log-smart.js'
import { ManagementAddressList, ParticipatingNvmSubsystemsHeader } from './log-subsystem.js'
import { SupportedLogPages } from './log-supported.js'
import { TelemetryControllerHeader, TelemetryHostHeader } from './log-telemetry.js'
import { ChangedZoneList } from './log-zones.js'

const structures = /*#__PURE__*/ new Map<number, AnyStruct>([
  [LID.SUPPORTED_LOG_PAGES, SupportedLogPages],
  [LID.ERROR_INFORMATION, ErrorLogEntry],
  [LID.SMART_HEALTH_INFORMATION, SmartHealthLog],
  [LID.FIRMWARE_SLOT_INFORMATION, FirmwareSlotLog],
  [LID.CHANGED_ATTACHED_NAMESPACE_LIST, ChangedAttachedNamespaceList],
  [LID.COMMANDS_SUPPORTED_AND_EFFECTS, CommandEffectsLog],
  [LID.DEVICE_SELF_TEST, SelfTestLog],
  [LID.TELEMETRY_HOST_INITIATED, TelemetryHostHeader],
  [LID.TELEMETRY_CONTROLLER_INITIATED, TelemetryControllerHeader],
  [LID.ENDURANCE_GROUP_INFORMATION, EnduranceGroupLog],
  [LID.PREDICTABLE_LATENCY_PER_NVM_SET, PredictableLatencyLog],
  [LID.PREDICTABLE_LATENCY_EVENT_AGGREGATE, PredictableLatencyEventAggregate],
  [LID.ASYMMETRIC_NAMESPACE_ACCESS, AnaLogHeader],
  [LID.PERSISTENT_EVENT_LOG, PersistentEventLogHeader],
  [LID.LBA_STATUS_INFORMATION, LbaStatusLogHeader],
  [LID.ENDURANCE_GROUP_EVENT_AGGREGATE, EnduranceGroupEventAggregate],
  [LID.MEDIA_UNIT_STATUS, MediaUnitStatusHeader],
  [LID.SUPPORTED_CAPACITY_CONFIGURATION_LIST, CapacityConfigurationListHeader],
  [LID.FEATURE_IDENTIFIERS_SUPPORTED_AND_EFFECTS, FeatureEffectsLog],
  [LID.NVME_MI_COMMANDS_SUPPORTED_AND_EFFECTS, ManagementCommandEffectsLog],
  [LID.COMMAND_AND_FEATURE_LOCKDOWN, LockdownLog],
  [LID.BOOT_PARTITION, BootPartitionHeader],
  [LID.ROTATIONAL_MEDIA_INFORMATION, RotationalMediaLog],
  [LID.DISPERSED_NAMESPACE_PARTICIPATING_NVM_SUBSYSTEMS, ParticipatingNvmSubsystemsHeader],
  [LID.MANAGEMENT_ADDRESS_LIST, ManagementAddressList],
  [LID.REACHABILITY_GROUPS, ReachabilityGroupsHeader],
  [LID.REACHABILITY_ASSOCIATIONS, ReachabilityAssociationsHeader],
  [LID.CHANGED_ALLOCATED_NAMESPACE_LIST, ChangedAllocatedNamespaceList],
  [LID.FDP_CONFIGURATIONS, FdpConfigurationsHeader],
  [LID.RECLAIM_UNIT_HANDLE_USAGE, ReclaimUnitHandleUsageHeader],
  [LID.FDP_STATISTICS, FdpStatisticsLog],
  [LID.FDP_EVENTS, FdpEventsHeader],
  [LID.RESERVATION_NOTIFICATION, ReservationNotificationLog],
  [LID.SANITIZE_STATUS, SanitizeStatusLog],
  [LID.CHANGED_ZONE_LIST, ChangedZoneList],
])

/**
 * The structure of a log page by its identifier; undefined where none is declared. Of a page whose length varies it is
 * the header, after which entries of another structure follow; of Error Information it is one of the entries, of which
 * the page consists. Each structure carries its source as `spec`.
 */
export function logStructure(lid: number): AnyStruct | undefined {
  return structures.get(lid)
}

const eventData = /*#__PURE__*/ new Map<number, AnyStruct>([
  [PERSISTENT_EVENT.SMART_HEALTH_LOG_SNAPSHOT, SmartHealthLog],
  [PERSISTENT_EVENT.FIRMWARE_COMMIT, FirmwareCommitEvent],
  [PERSISTENT_EVENT.TIMESTAMP_CHANGE, TimestampChangeEvent],
  [PERSISTENT_EVENT.POWER_ON_OR_RESET, PowerOnOrResetEvent],
  [PERSISTENT_EVENT.NVM_SUBSYSTEM_HARDWARE_ERROR, HardwareErrorEvent],
  [PERSISTENT_EVENT.CHANGE_NAMESPACE, ChangeNamespaceEvent],
  [PERSISTENT_EVENT.FORMAT_NVM_START, FormatStartEvent],
  [PERSISTENT_EVENT.FORMAT_NVM_COMPLETION, FormatCompletionEvent],
  [PERSISTENT_EVENT.SANITIZE_START, SanitizeStartEvent],
  [PERSISTENT_EVENT.SANITIZE_COMPLETION, SanitizeCompletionEvent],
  [PERSISTENT_EVENT.SET_FEATURE, SetFeatureEvent],
  [PERSISTENT_EVENT.THERMAL_EXCURSION, ThermalExcursionEvent],
  [PERSISTENT_EVENT.VENDOR_SPECIFIC, VendorSpecificEventDescriptor],
])

/**
 * The data of a persistent event by its type, or how they begin where their length varies; undefined where they have
 * no form of their own. Those of Telemetry Log Created are a header of telemetry, whose LID says which one. Each
 * structure carries its source as `spec`.
 */
export function persistentEventData(type: number): AnyStruct | undefined {
  return eventData.get(type)
}
