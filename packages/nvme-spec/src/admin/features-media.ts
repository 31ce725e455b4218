import { FID } from './features.js'
import { bit, bits, feature, struct, u16, u64, u8 } from '../layout/index.js'

/** Read Recovery Level Config (FID 12h) of an NVM Set (Base 2.1 Figures 400 and 401). */
export const ReadRecoveryLevelConfig = feature(
  'Read Recovery Level Config',
  { fid: FID.READ_RECOVERY_LEVEL_CONFIG, doc: 'Read recovery of an NVM Set', spec: 'Base 2.1 §5.1.25.1.11' },
  {
    CDW11: { NVMSETID: bits(15, 0, 'NVM Set Identifier') },
    CDW12: { RRL: bits(3, 0, 'Read Recovery Level') },
    DW0: { RRL: bits(3, 0, 'Read Recovery Level') },
  },
)

/** Thresholds of warning events; the bits of Enable Event are those of the log's event type. */
export const DeterministicThresholdConfiguration = struct(
  'Deterministic Threshold Configuration',
  { bytes: 512, doc: 'Thresholds of a Deterministic Window', spec: 'libnvme 1.3 nvme_plm_config' },
  {
    EE: u16(0, 'Enable Event'),
    DTWINRT: u64(32, 'DTWIN Reads Threshold'),
    DTWINWT: u64(40, 'DTWIN Writes Threshold'),
    DTWINTT: u64(48, 'DTWIN Time Threshold in milliseconds'),
  },
)

/** Predictable Latency Mode Config (FID 13h) of an NVM Set (`nvme_set_features_plm_config`, NVME_FEAT_PLM_PLME). */
export const PredictableLatencyModeConfig = feature(
  'Predictable Latency Mode Config',
  {
    fid: FID.PREDICTABLE_LATENCY_MODE_CONFIG,
    doc: 'Predictable Latency Mode of an NVM Set',
    spec: 'libnvme 1.3 NVME_FEAT_PLM_PLME_SHIFT',
    data: DeterministicThresholdConfiguration,
  },
  {
    CDW11: { NVMSETID: bits(15, 0, 'NVM Set Identifier') },
    CDW12: { PLME: bit(0, 'Predictable Latency Enable') },
    DW0: { PLME: bit(0, 'Predictable Latency Enable') },
  },
)

const WSEL = bits(2, 0, 'Window Select', { DTWIN: 1, NDWIN: 2 })

/** Predictable Latency Mode Window (FID 14h) of an NVM Set (Base 2.1 Figures 405 and 406). */
export const PredictableLatencyModeWindow = feature(
  'Predictable Latency Mode Window',
  { fid: FID.PREDICTABLE_LATENCY_MODE_WINDOW, doc: 'Window of an NVM Set', spec: 'Base 2.1 §5.1.25.1.13' },
  { CDW11: { NVMSETID: bits(15, 0, 'NVM Set Identifier') }, CDW12: { WSEL }, DW0: { WSEL } },
)

/** Endurance Group Event Configuration (FID 18h): warnings of a group that are reported as events. */
export const EnduranceGroupEventConfiguration = feature(
  'Endurance Group Event Configuration',
  {
    fid: FID.ENDURANCE_GROUP_EVENT_CONFIGURATION,
    doc: 'Warnings of a group reported as events',
    spec: 'libnvme 1.3 NVME_FEAT_EG_ENDGID_SHIFT',
  },
  {
    CDW11: {
      ENDGID: bits(15, 0, 'Endurance Group Identifier'),
      EGCW: bits(23, 16, 'Endurance Group Critical Warnings'),
    },
  },
)

const placement = {
  FDPE: bit(0, 'Flexible Data Placement Enable'),
  // libnvme masks four of these bits; later Linux drivers treat the byte as one field.
  FDPCIDX: bits(15, 8, 'Flexible Data Placement Configuration Index'),
}

/** Flexible Data Placement (FID 1Dh): of an Endurance Group (NVME_FEAT_FDP_ENABLED_SHIFT and the one below). */
export const FlexibleDataPlacement = feature(
  'Flexible Data Placement',
  {
    fid: FID.FLEXIBLE_DATA_PLACEMENT,
    doc: 'Flexible Data Placement of an Endurance Group',
    spec: 'libnvme 1.3 NVME_FEAT_FDP_INDEX_SHIFT',
  },
  { CDW11: { ENDGID: bits(15, 0, 'Endurance Group Identifier') }, CDW12: placement, DW0: placement },
)

/** An entry of the list that Get Features returns for Flexible Data Placement Events (Base 2.1 Figures 421 and 422). */
export const SupportedFdpEvent = struct(
  'Supported FDP Event Descriptor',
  { bytes: 2, doc: 'A type of FDP event and whether it is enabled', spec: 'Base 2.1 §5.1.25.1.21' },
  {
    FDPET: u8(0, 'FDP Event Type'),
    FDPETA: u8(1, 'FDP Event Type Attributes', { FDPEE: bit(0, 'FDP Event Enable') }),
  },
)

/** Flexible Data Placement Events (FID 1Eh) of a Reclaim Unit Handle; Set Features takes event types, one byte each. */
export const FlexibleDataPlacementEvents = feature(
  'Flexible Data Placement Events',
  {
    fid: FID.FLEXIBLE_DATA_PLACEMENT_EVENTS,
    doc: 'FDP events of a Reclaim Unit Handle',
    spec: 'libnvme 1.3 nvme_feat_fdp_events_cdw11',
    data: SupportedFdpEvent,
  },
  {
    CDW11: { PHNDL: bits(15, 0, 'Placement Handle'), NOET: bits(23, 16, 'Number of FDP Event Types') },
    CDW12: { FDPEE: bit(0, 'FDP Event Enable') },
    // Number of descriptors that follow; the page that names the row was not read.
    DW0: {},
  },
)

/** Reservation Notification Mask (FID 82h): notifications of a namespace that are suppressed. */
export const ReservationNotificationMask = feature(
  'Reservation Notification Mask',
  {
    fid: FID.RESERVATION_NOTIFICATION_MASK,
    doc: 'Masked reservation notifications',
    spec: 'libnvme 1.3 nvme_feat_resv_notify_flags',
  },
  {
    CDW11: {
      REGPRE: bit(1, 'Mask Registration Preempted Notification'),
      RESREL: bit(2, 'Mask Reservation Released Notification'),
      RESPRE: bit(3, 'Mask Reservation Preempted Notification'),
    },
  },
)

/** Reservation Persistence (FID 83h): whether reservations of a namespace persist through a power loss. */
export const ReservationPersistence = feature(
  'Reservation Persistence',
  {
    fid: FID.RESERVATION_PERSISTENCE,
    doc: 'Persistence of reservations through power loss',
    spec: 'libnvme 1.3 NVME_FEAT_RP_PTPL_SHIFT',
  },
  { CDW11: { PTPL: bit(0, 'Persist Through Power Loss') } },
)

/** Namespace Write Protection Config (FID 84h): the write protection state of a namespace. */
export const NamespaceWriteProtectionConfig = feature(
  'Namespace Write Protection Config',
  {
    fid: FID.NAMESPACE_WRITE_PROTECTION_CONFIG,
    doc: 'Write protection of a namespace',
    spec: 'libnvme 1.3 nvme_feat_nswpcfg_state',
  },
  {
    CDW11: {
      WPS: bits(2, 0, 'Write Protection State', {
        NO_WRITE_PROTECT: 0,
        WRITE_PROTECT: 1,
        WRITE_PROTECT_UNTIL_POWER_CYCLE: 2,
        PERMANENT_WRITE_PROTECT: 3,
      }),
    },
  },
)

const states = {
  CHANGE_NOT_REQUESTED: 0,
  WRITE_UNLOCKED: 1,
  WRITE_LOCKED: 2,
  WRITE_LOCKED_UNTIL_POWER_CYCLE: 3,
  CONTROLLED_BY_RPMB: 4,
}

/**
 * Boot Partition Write Protection Config (FID 85h): the states of both partitions (Base 2.3 §5.2.26.1.36, Figure 471).
 */
export const BootPartitionWriteProtectionConfig = feature(
  'Boot Partition Write Protection Config',
  {
    fid: FID.BOOT_PARTITION_WRITE_PROTECTION_CONFIG,
    doc: 'Write protection of Boot Partitions',
    spec: 'Base 2.3 §5.2.26.1.36',
  },
  {
    CDW11: {
      BP0WPS: bits(2, 0, 'Boot Partition 0 Write Protection State', states),
      BP1WPS: bits(5, 3, 'Boot Partition 1 Write Protection State', states),
    },
  },
)
