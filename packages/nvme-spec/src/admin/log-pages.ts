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
import { PredictableLatencyEventAggregate, PredictableLatencyLog } from './log-latency.js'
import { LbaStatusLogHeader } from './log-lba-status.js'
import { LockdownLog } from './log-lockdown.js'
import { ChangedAllocatedNamespaceList, ChangedAttachedNamespaceList } from './log-namespaces.js'
import { PersistentEventLogHeader } from './log-persistent-event.js'
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

// Numbers of LID and PERSISTENT_EVENT: repeating their names would add a quarter of a kilobyte to a browser bundle.
const structures = /*#__PURE__*/ new Map<number, AnyStruct>([
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
  return structures.get(lid)
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
