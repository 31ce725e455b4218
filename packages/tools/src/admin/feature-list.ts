import {
  Arbitration,
  AsynchronousEventConfiguration,
  AutonomousPowerStateTransition,
  BootPartitionWriteProtectionConfig,
  ControllerDataQueue,
  ControllerMetadata,
  EmbeddedManagementControllerAddress,
  EnduranceGroupEventConfiguration,
  EnhancedControllerMetadata,
  ErrorRecovery,
  FID,
  FlexibleDataPlacement,
  FlexibleDataPlacementEvents,
  HostBehaviorSupport,
  HostControlledThermalManagement,
  HostIdentifier,
  HostManagementAgentAddress,
  HostMemoryBuffer,
  InterruptCoalescing,
  InterruptVectorConfiguration,
  IoCommandSetProfile,
  KeepAliveTimer,
  LbaRangeType,
  LbaStatusInformationAttributes,
  NamespaceMetadata,
  NamespaceWriteProtectionConfig,
  NonOperationalPowerStateConfig,
  NumberOfQueues,
  PerformanceCharacteristics,
  PowerLossSignalingConfig,
  PowerManagement,
  PredictableLatencyModeConfig,
  PredictableLatencyModeWindow,
  ReadRecoveryLevelConfig,
  ReservationNotificationMask,
  ReservationPersistence,
  SanitizeConfig,
  SoftwareProgressMarker,
  SpinupControl,
  TemperatureThreshold,
  Timestamp,
  VolatileWriteCache,
  WriteAtomicityNormal,
} from '@gpunvme/nvme-spec'
import type { AnyFeature } from '@gpunvme/nvme-spec/layout'
import { claim, type Claim } from './claims.js'

/** A feature, and whether it can be requested without risk. */
export interface ListedFeature {
  readonly feature: AnyFeature
  /**
   * Field of Identify Controller that reports it. 'every': supported by each drive; 'optional': Identify does not
   * report it. Many drives count a rejected request as an error, so 'optional' ones are requested only by name.
   */
  readonly claim: Claim | 'every' | 'optional'
  /** Whether its value is per namespace. */
  readonly ofNamespace?: boolean
}

/** In the order of FID. */
export const FEATURES: readonly ListedFeature[] = [
  { feature: Arbitration, claim: 'every' },
  { feature: PowerManagement, claim: 'every' },
  { feature: LbaRangeType, claim: 'optional', ofNamespace: true },
  { feature: TemperatureThreshold, claim: 'every' },
  { feature: ErrorRecovery, claim: 'every', ofNamespace: true },
  { feature: VolatileWriteCache, claim: claim('VWC.VWCP') },
  { feature: NumberOfQueues, claim: 'every' },
  { feature: InterruptCoalescing, claim: 'every' },
  { feature: InterruptVectorConfiguration, claim: 'every' },
  { feature: WriteAtomicityNormal, claim: 'every' },
  { feature: AsynchronousEventConfiguration, claim: 'every' },
  { feature: AutonomousPowerStateTransition, claim: claim('APSTA.APTS') },
  { feature: HostMemoryBuffer, claim: claim('HMPRE') },
  { feature: Timestamp, claim: claim('ONCS.TSS') },
  { feature: KeepAliveTimer, claim: claim('KAS') },
  { feature: HostControlledThermalManagement, claim: claim('HCTMA.HCTMS') },
  { feature: NonOperationalPowerStateConfig, claim: claim('CTRATT.NOPSPM') },
  { feature: ReadRecoveryLevelConfig, claim: claim('CTRATT.RRLVLS') },
  { feature: PredictableLatencyModeConfig, claim: claim('CTRATT.PLM') },
  { feature: PredictableLatencyModeWindow, claim: claim('CTRATT.PLM') },
  { feature: LbaStatusInformationAttributes, claim: claim('OACS.GLSS') },
  { feature: HostBehaviorSupport, claim: 'optional' },
  { feature: SanitizeConfig, claim: claim('SANICAP') },
  { feature: EnduranceGroupEventConfiguration, claim: claim('CTRATT.EGS') },
  { feature: IoCommandSetProfile, claim: 'optional' },
  { feature: SpinupControl, claim: 'optional' },
  { feature: PowerLossSignalingConfig, claim: claim('PLSI') },
  { feature: PerformanceCharacteristics, claim: 'optional' },
  { feature: FlexibleDataPlacement, claim: claim('CTRATT.FDPS') },
  { feature: FlexibleDataPlacementEvents, claim: claim('CTRATT.FDPS') },
  { feature: ControllerDataQueue, claim: claim('OACS.HMLMS') },
  { feature: EmbeddedManagementControllerAddress, claim: 'optional' },
  { feature: HostManagementAgentAddress, claim: 'optional' },
  { feature: EnhancedControllerMetadata, claim: 'optional' },
  { feature: ControllerMetadata, claim: 'optional' },
  { feature: NamespaceMetadata, claim: 'optional', ofNamespace: true },
  { feature: SoftwareProgressMarker, claim: 'optional' },
  { feature: HostIdentifier, claim: claim('CTRATT.HIDS') },
  { feature: ReservationNotificationMask, claim: claim('ONCS.RESERVS'), ofNamespace: true },
  { feature: ReservationPersistence, claim: claim('ONCS.RESERVS'), ofNamespace: true },
  { feature: NamespaceWriteProtectionConfig, claim: claim('NWPC.NWPWPS'), ofNamespace: true },
  { feature: BootPartitionWriteProtectionConfig, claim: claim('BPCAP.SFBPWPS') },
]

/** Returns the name of a feature: 'power-management'; '0xc5' for a vendor-specific one. */
export function nameOfFeature(fid: number): string {
  return FID.nameOf(fid).toLowerCase().replaceAll('_', '-')
}

/** Returns the entry of a feature; for an undeclared one, only its number. */
export function listedFeature(fid: number): ListedFeature {
  const listed = FEATURES.find(({ feature }) => feature.fid === fid)
  if (listed !== undefined) return listed
  const name = fid >= 0xc0 ? 'Vendor Specific' : FID.nameOf(fid)
  return { feature: { fid, name, doc: 'unknown', spec: 'Base 2.1 §5.1.25' }, claim: 'optional' }
}

/** Finds a feature by name, 'power-management' or POWER_MANAGEMENT; undefined for an unknown name. */
export function featureNamed(word: string): ListedFeature | undefined {
  const name = word.toLowerCase().replaceAll('_', '-')
  const fid = Object.values(FID.values).find((value) => nameOfFeature(value) === name)
  return fid === undefined ? undefined : listedFeature(fid)
}
