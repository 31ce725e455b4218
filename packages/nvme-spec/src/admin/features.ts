import {
  adminCommand,
  bit,
  bits,
  cdw,
  cdwBit,
  cdwOpen,
  codes,
  count,
  dwordBits,
  feature,
  n64,
  struct,
  structs,
  u32,
  u48,
  u8,
  word32,
} from '../layout/index.js'

/**
 * Feature Identifiers (Base 2.1 §5.1.25, Figure 385; those of the NVM Command Set from NVM 1.2 §4.1.3, Figure 91, that
 * of the Key Value Command Set from KV 1.0d §4.1.3, Figure 33). C0h to FFh are vendor specific, all others not listed
 * are reserved.
 */
export const FID = codes(
  'FID',
  { doc: 'Feature Identifiers', spec: 'Base 2.1 §5.1.25' },
  {
    ARBITRATION: 0x01,
    POWER_MANAGEMENT: 0x02,
    LBA_RANGE_TYPE: 0x03,
    TEMPERATURE_THRESHOLD: 0x04,
    ERROR_RECOVERY: 0x05,
    VOLATILE_WRITE_CACHE: 0x06,
    NUMBER_OF_QUEUES: 0x07,
    INTERRUPT_COALESCING: 0x08,
    INTERRUPT_VECTOR_CONFIGURATION: 0x09,
    WRITE_ATOMICITY_NORMAL: 0x0a,
    ASYNCHRONOUS_EVENT_CONFIGURATION: 0x0b,
    AUTONOMOUS_POWER_STATE_TRANSITION: 0x0c,
    HOST_MEMORY_BUFFER: 0x0d,
    TIMESTAMP: 0x0e,
    KEEP_ALIVE_TIMER: 0x0f,
    HOST_CONTROLLED_THERMAL_MANAGEMENT: 0x10,
    NON_OPERATIONAL_POWER_STATE_CONFIG: 0x11,
    READ_RECOVERY_LEVEL_CONFIG: 0x12,
    PREDICTABLE_LATENCY_MODE_CONFIG: 0x13,
    PREDICTABLE_LATENCY_MODE_WINDOW: 0x14,
    LBA_STATUS_INFORMATION_ATTRIBUTES: 0x15,
    HOST_BEHAVIOR_SUPPORT: 0x16,
    SANITIZE_CONFIG: 0x17,
    ENDURANCE_GROUP_EVENT_CONFIGURATION: 0x18,
    IO_COMMAND_SET_PROFILE: 0x19,
    SPINUP_CONTROL: 0x1a,
    POWER_LOSS_SIGNALING_CONFIG: 0x1b,
    PERFORMANCE_CHARACTERISTICS: 0x1c,
    FLEXIBLE_DATA_PLACEMENT: 0x1d,
    FLEXIBLE_DATA_PLACEMENT_EVENTS: 0x1e,
    NAMESPACE_ADMIN_LABEL: 0x1f,
    KEY_VALUE_CONFIGURATION: 0x20,
    CONTROLLER_DATA_QUEUE: 0x21,
    EMBEDDED_MANAGEMENT_CONTROLLER_ADDRESS: 0x78,
    HOST_MANAGEMENT_AGENT_ADDRESS: 0x79,
    ENHANCED_CONTROLLER_METADATA: 0x7d,
    CONTROLLER_METADATA: 0x7e,
    NAMESPACE_METADATA: 0x7f,
    SOFTWARE_PROGRESS_MARKER: 0x80,
    HOST_IDENTIFIER: 0x81,
    RESERVATION_NOTIFICATION_MASK: 0x82,
    RESERVATION_PERSISTENCE: 0x83,
    NAMESPACE_WRITE_PROTECTION_CONFIG: 0x84,
    BOOT_PARTITION_WRITE_PROTECTION_CONFIG: 0x85,
  },
)

/**
 * Sets the value of a feature; the feature defines the rows of Command Dwords 11 to 15 (Base 2.1 §5.1.25, Figures 383
 * and 384). Command Dword 14 has a UUID Index, except for the Host Memory Buffer, where it is an address.
 */
export const SetFeatures = adminCommand(
  'Set Features',
  { opcode: 0x09, doc: 'Sets the value of a feature', spec: 'Base 2.1 §5.1.25' },
  {
    FID: cdwOpen(10, 7, 0, 'Feature Identifier', FID.values),
    SV: cdwBit(10, 31, 'Save'),
    CDW11: cdw(11, 31, 0, 'Feature specific'),
    CDW12: cdw(12, 31, 0, 'Feature specific'),
    CDW13: cdw(13, 31, 0, 'Feature specific'),
    CDW14: u32(56, 'UUID Index, or feature specific', { UIDX: bits(6, 0, 'UUID Index') }),
    CDW15: cdw(15, 31, 0, 'Feature specific'),
  },
)

/** Returns the value of a feature in Dword 0 of the completion, or as data (Base 2.1 §5.1.11, Figures 192 and 193). */
export const GetFeatures = adminCommand(
  'Get Features',
  { opcode: 0x0a, doc: 'Returns the value of a feature', spec: 'Base 2.1 §5.1.11' },
  {
    FID: cdwOpen(10, 7, 0, 'Feature Identifier', FID.values),
    SEL: cdw(10, 10, 8, 'Select', { CURRENT: 0, DEFAULT: 1, SAVED: 2, SUPPORTED: 3 }),
    CDW11: cdw(11, 31, 0, 'Feature specific'),
    UIDX: cdw(14, 6, 0, 'UUID Index'),
  },
)

/**
 * Dword 0 of the completion of Get Features with SEL 011b, for any feature: its capabilities. The names of the bits are
 * in Base 2.1 §5.1.25.1.26; the page with their figure was not read, so their positions are those that nvme-cli prints.
 */
export const SupportedCapabilitiesDw0 = word32(
  'Supported Capabilities.DW0',
  { doc: 'Capabilities of a feature', spec: 'Base 2.1 §5.1.25.1.26' },
  { SAVEABLE: bit(0, 'Saveable'), NS_SPECIFIC: bit(1, 'NS Specific'), CHANGEABLE: bit(2, 'Changeable') },
)

/** Arbitration (FID 01h): number of commands fetched at a time, and queue weights (Base 2.1 Figure 386). */
export const Arbitration = feature(
  'Arbitration',
  { fid: FID.ARBITRATION, doc: 'Command arbitration', spec: 'Base 2.1 §5.1.25.1.1' },
  {
    CDW11: {
      AB: bits(2, 0, 'Arbitration Burst: 2 ^ n commands; 7 means no limit'),
      LPW: count(15, 8, 'Low Priority Weight'),
      MPW: count(23, 16, 'Medium Priority Weight'),
      HPW: count(31, 24, 'High Priority Weight'),
    },
  },
)

/** Power Management (FID 02h): the requested or current power state (Base 2.1 Figures 387 and 388). */
export const PowerManagement = feature(
  'Power Management',
  { fid: FID.POWER_MANAGEMENT, doc: 'Power state of the controller', spec: 'Base 2.1 §5.1.25.1.2' },
  { CDW11: { PS: bits(4, 0, 'Power State'), WH: bits(7, 5, 'Workload Hint') } },
)

/** Idle time and target state of an autonomous transition (Base 2.1 §5.1.25.1.6, Figure 393). */
export const AutonomousPowerStateTransitionEntry = struct(
  'Autonomous Power State Transition Entry',
  { bytes: 8, doc: 'Target and idle time of a transition', spec: 'Base 2.1 §5.1.25.1.6' },
  {
    ITPS: dwordBits(0, bits(7, 3, 'Idle Transition Power State')),
    ITPT: dwordBits(0, bits(31, 8, 'Idle Time Prior to Transition in milliseconds')),
  },
)

/** An entry for each power state (Base 2.1 §5.1.25.1.6). */
export const AutonomousPowerStateTransitions = struct(
  'Autonomous Power State Transitions',
  { bytes: 256, doc: 'One entry per power state', spec: 'Base 2.1 §5.1.25.1.6' },
  { APST: structs(0, 32, AutonomousPowerStateTransitionEntry, 'Entries by power state') },
)

/** Autonomous Power State Transition (FID 0Ch), with its table as data (Base 2.1 Figures 392 and 393). */
export const AutonomousPowerStateTransition = feature(
  'Autonomous Power State Transition',
  {
    fid: FID.AUTONOMOUS_POWER_STATE_TRANSITION,
    doc: 'Transitions to lower power states when idle',
    spec: 'Base 2.1 §5.1.25.1.6',
    data: AutonomousPowerStateTransitions,
  },
  { CDW11: { APSTE: bit(0, 'Autonomous Power State Transition Enable') } },
)

/** Host Controlled Thermal Management (FID 10h): where throttling begins (Base 2.1 Figure 398). */
export const HostControlledThermalManagement = feature(
  'Host Controlled Thermal Management',
  {
    fid: FID.HOST_CONTROLLED_THERMAL_MANAGEMENT,
    doc: 'Throttling temperatures',
    spec: 'Base 2.1 §5.1.25.1.9',
  },
  {
    CDW11: {
      TMT2: bits(15, 0, 'Thermal Management Temperature 2 in kelvins'),
      TMT1: bits(31, 16, 'Thermal Management Temperature 1 in kelvins'),
    },
  },
)

/** Non-Operational Power State Config (FID 11h): whether background work may exceed the state's power (Figure 399). */
export const NonOperationalPowerStateConfig = feature(
  'Non-Operational Power State Config',
  {
    fid: FID.NON_OPERATIONAL_POWER_STATE_CONFIG,
    doc: 'Background work in non-operational power states',
    spec: 'Base 2.1 §5.1.25.1.10',
  },
  { CDW11: { NOPPME: bit(0, 'Non-Operational Power State Permissive Mode Enable') } },
)

/** Spinup Control (FID 1Ah): whether rotational media wait for a spin-up request (Base 2.1 Figures 412 and 413). */
export const SpinupControl = feature(
  'Spinup Control',
  { fid: FID.SPINUP_CONTROL, doc: 'Initial spinup of rotational media', spec: 'Base 2.1 §5.1.25.1.18' },
  { CDW11: { SCE: bit(0, 'Spinup Control Enable') }, DW0: { SCS: bit(0, 'Spinup Control State') } },
)

/**
 * Power Loss Signaling Config (FID 1Bh): mode 0 is off, 1 is Emergency Power Fail, 2 is Forced Quiescence (Base 2.3
 * §5.2.26.1.19, Figure 433).
 */
export const PowerLossSignalingConfig = feature(
  'Power Loss Signaling Config',
  {
    fid: FID.POWER_LOSS_SIGNALING_CONFIG,
    doc: 'Behavior before power loss',
    spec: 'Base 2.3 §5.2.26.1.19',
  },
  { CDW11: { PLSM: bits(1, 0, 'Power Loss Signaling Mode') } },
)

/**
 * Temperature Threshold (FID 04h): one threshold of one sensor, selected by TMPSEL and THSEL (Base 2.3 §5.2.26.1.3.1,
 * Figure 407; values of THSEL from libnvme 1.3 `nvme_feat_tmpthresh_thsel`).
 */
export const TemperatureThreshold = feature(
  'Temperature Threshold',
  {
    fid: FID.TEMPERATURE_THRESHOLD,
    doc: 'Thresholds of critical temperature warnings',
    spec: 'Base 2.3 §5.2.26.1.3.1',
  },
  {
    CDW11: {
      TMPTH: bits(15, 0, 'Temperature Threshold in kelvins'),
      TMPSEL: bits(19, 16, 'Threshold Temperature Select; 0 for composite'),
      THSEL: bits(21, 20, 'Threshold Type Select', { OVER: 0, UNDER: 1 }),
      TMPTHH: bits(24, 22, 'Temperature Threshold Hysteresis in kelvins'),
    },
  },
)

/** Volatile Write Cache (FID 06h): whether it is enabled (Base 2.1 Figure 390). */
export const VolatileWriteCache = feature(
  'Volatile Write Cache',
  { fid: FID.VOLATILE_WRITE_CACHE, doc: 'State of the write cache', spec: 'Base 2.1 §5.1.25.1.4' },
  { CDW11: { WCE: bit(0, 'Volatile Write Cache Enable') } },
)

/**
 * Number of Queues (FID 07h): I/O submission and completion queues requested in CDW11 of Set Features, and allocated in
 * DW0 of the completion. All numbers are 0's based; both may differ.
 */
export const NumberOfQueues = feature(
  'Number of Queues',
  {
    fid: FID.NUMBER_OF_QUEUES,
    doc: 'I/O queues requested and allocated',
    spec: 'libnvme 1.3 NVME_FEAT_NRQS_NSQR_SHIFT',
  },
  {
    CDW11: {
      NSQR: count(15, 0, 'Number of I/O Submission Queues Requested'),
      NCQR: count(31, 16, 'Number of I/O Completion Queues Requested'),
    },
    DW0: {
      NSQA: count(15, 0, 'Number of I/O Submission Queues Allocated'),
      NCQA: count(31, 16, 'Number of I/O Completion Queues Allocated'),
    },
  },
)

/** Interrupt Coalescing (FID 08h): completions and time per interrupt (THR is in Base 2.1 Figure 445 as well). */
export const InterruptCoalescing = feature(
  'Interrupt Coalescing',
  {
    fid: FID.INTERRUPT_COALESCING,
    doc: 'Completions and time per interrupt',
    spec: 'libnvme 1.3 NVME_FEAT_IRQC_THR_SHIFT',
  },
  {
    CDW11: {
      THR: count(7, 0, 'Aggregation Threshold in completions'),
      TIME: bits(15, 8, 'Aggregation Time in units of 100 microseconds'),
    },
  },
)

/** Interrupt Vector Configuration (FID 09h): coalescing of one vector (Base 2.1 Figure 446). */
export const InterruptVectorConfiguration = feature(
  'Interrupt Vector Configuration',
  { fid: FID.INTERRUPT_VECTOR_CONFIGURATION, doc: 'Coalescing of one vector', spec: 'Base 2.1 §5.1.25.2.3' },
  { CDW11: { IV: bits(15, 0, 'Interrupt Vector'), CD: bit(16, 'Coalescing Disable') } },
)

/** Asynchronous Event Configuration (FID 0Bh): which events are reported (Base 2.1 Figure 391). */
export const AsynchronousEventConfiguration = feature(
  'Asynchronous Event Configuration',
  { fid: FID.ASYNCHRONOUS_EVENT_CONFIGURATION, doc: 'Enabled asynchronous events', spec: 'Base 2.1 §5.1.25.1.5' },
  {
    CDW11: {
      SHCW: bits(7, 0, 'SMART / Health Critical Warnings'),
      NAN: bit(8, 'Attached Namespace Attribute Notices'),
      FAN: bit(9, 'Firmware Activation Notices'),
      TLN: bit(10, 'Telemetry Log Notices'),
      ANACN: bit(11, 'Asymmetric Namespace Access Change Notices'),
      PLEALCN: bit(12, 'Predictable Latency Event Aggregate Log Change Notices'),
      LSIAN: bit(13, 'LBA Status Information Alert Notices'),
      EGEALCN: bit(14, 'Endurance Group Event Aggregate Log Change Notices'),
      NNSSHDN: bit(15, 'Normal NVM Subsystem Shutdown'),
      TTHRY: bit(16, 'Temperature Threshold Hysteresis Recovery'),
      RASSN: bit(17, 'Reachability Association'),
      RGRP0: bit(18, 'Reachability Group'),
      ANSAN: bit(19, 'Allocated Namespace Attribute Notices'),
      ZDCN: bit(27, 'Zone Descriptor Changed Notices'),
      PMDRLPCN: bit(28, 'Pull Model DDC Request Log Page Change Notification'),
      ADLPCN: bit(29, 'AVE Discovery Log Page Change Notification'),
      HDLPCN: bit(30, 'Host Discovery Log Page Change Notification'),
      DLPCN: bit(31, 'Discovery Log Page Change Notification'),
    },
  },
)

/**
 * An entry of the Host Memory Descriptor List: contiguous pages. Offsets are Linux's; the symbols are those in common
 * use, not read in the figure.
 */
export const HostMemoryBufferDescriptor = struct(
  'Host Memory Buffer Descriptor Entry',
  { bytes: 16, doc: 'Contiguous memory pages', spec: 'Linux 6.1 linux/nvme.h nvme_host_mem_buf_desc' },
  {
    BADD: n64(0, 'Buffer Address'),
    BSIZE: u32(8, 'Buffer Size in memory pages'),
  },
)

/** Data returned by Get Features: location of the buffer. */
export const HostMemoryBufferAttributes = struct(
  'Host Memory Buffer Attributes',
  { bytes: 4096, doc: 'Location of the Host Memory Buffer', spec: 'libnvme 1.3 nvme_host_mem_buf_attrs' },
  {
    HSIZE: u32(0, 'Host Memory Buffer Size in memory pages'),
    HMDLAL: u32(4, 'Host Memory Descriptor List Address Lower'),
    HMDLAU: u32(8, 'Host Memory Descriptor List Address Upper'),
    HMDLEC: u32(12, 'Host Memory Descriptor List Entry Count'),
  },
)

/**
 * Host Memory Buffer (FID 0Dh): memory of the host that the controller may use (Base 2.1 Figures 447 to 451). MR is
 * Linux's `NVME_HOST_MEM_RETURN`; HMNARE and HMNAR are where nvme-cli prints them.
 */
export const HostMemoryBuffer = feature(
  'Host Memory Buffer',
  {
    fid: FID.HOST_MEMORY_BUFFER,
    doc: 'Host memory that the controller may use',
    spec: 'Base 2.1 §5.1.25.2.4',
    data: HostMemoryBufferAttributes,
  },
  {
    CDW11: {
      EHM: bit(0, 'Enable Host Memory'),
      MR: bit(1, 'Memory Return'),
      HMNARE: bit(2, 'Host Memory Non-operational Access Restriction Enable'),
    },
    CDW12: { HSIZE: bits(31, 0, 'Host Memory Buffer Size in memory pages') },
    CDW13: { HMDLLA: bits(31, 0, 'Host Memory Descriptor List Lower Address') },
    CDW14: { HMDLUA: bits(31, 0, 'Host Memory Descriptor List Upper Address') },
    CDW15: { HMDLEC: bits(31, 0, 'Host Memory Descriptor List Entry Count') },
    DW0: {
      EHM: bit(0, 'Enable Host Memory'),
      HMNARE: bit(2, 'Host Memory Non-operational Access Restriction Enable'),
      HMNAR: bit(3, 'Host Memory Non-operational Access Restricted'),
    },
  },
)

/** A time; TSTMPS is its status, zero in Set Features (Base 2.1 Figures 395 and 396). */
export const TimestampData = struct(
  'Timestamp data',
  { bytes: 8, doc: 'A time and its origin', spec: 'Base 2.1 §5.1.25.1.7' },
  {
    TSTMP: u48(0, 'Timestamp in milliseconds since 1970 or since a reset'),
    TSTMPS: u8(6, 'Timestamp Attribute', {
      SYNC: bit(0, 'Synch: the clock may have stopped'),
      TSTMPO: bits(3, 1, 'Timestamp Origin', { RESET: 0, SET_FEATURES: 1 }),
    }),
  },
)

/** Timestamp (FID 0Eh): the controller's clock, as data. */
export const Timestamp = feature(
  'Timestamp',
  { fid: FID.TIMESTAMP, doc: "The controller's clock", spec: 'Base 2.1 §5.1.25.1.7', data: TimestampData },
  {},
)

/** Keep Alive Timer (FID 0Fh): timeout after which the controller considers its host lost (Base 2.1 Figure 397). */
export const KeepAliveTimer = feature(
  'Keep Alive Timer',
  { fid: FID.KEEP_ALIVE_TIMER, doc: 'Timeout for host activity', spec: 'Base 2.1 §5.1.25.1.8' },
  { CDW11: { KATO: bits(31, 0, 'Keep Alive Timeout in milliseconds; 0 means off') } },
)

/** Sanitize Config (FID 17h): behavior of a controller that cannot keep media allocated. */
export const SanitizeConfig = feature(
  'Sanitize Config',
  { fid: FID.SANITIZE_CONFIG, doc: 'Response to No-Deallocate', spec: 'libnvme 1.3 NVME_FEAT_SC_NODRM_SHIFT' },
  { CDW11: { NODRM: bit(0, 'No-Deallocate Response Mode: 0 for error, 1 for warning') } },
)

/** I/O Command Set Profile (FID 19h): the combination in use (Base 2.1 Figures 410 and 411). */
export const IoCommandSetProfile = feature(
  'I/O Command Set Profile',
  { fid: FID.IO_COMMAND_SET_PROFILE, doc: 'I/O command sets in use', spec: 'Base 2.1 §5.1.25.1.17' },
  { CDW11: { IOCSCI: bits(8, 0, 'I/O Command Set Combination Index') } },
)

/** Data returned by Get Features (Base 2.1 Figure 427). */
export const ControllerDataQueueData = struct(
  'Controller Data Queue data',
  { bytes: 512, doc: 'Head and trigger of a Controller Data Queue', spec: 'Base 2.1 §5.1.25.1.23' },
  { HP: u32(0, 'Head Pointer'), TPT: u32(4, 'Tail Pointer Trigger') },
)

/**
 * Controller Data Queue (FID 21h): read position of the host (Base 2.1 Figures 425 to 427; rows of CDW11 also in Base
 * 2.3 §5.2.26.1.23).
 */
export const ControllerDataQueue = feature(
  'Controller Data Queue',
  {
    fid: FID.CONTROLLER_DATA_QUEUE,
    doc: 'Read position in a Controller Data Queue',
    spec: 'Base 2.1 §5.1.25.1.23',
    data: ControllerDataQueueData,
  },
  {
    CDW11: { CDQID: bits(15, 0, 'Controller Data Queue Identifier'), ETPT: bit(31, 'Enable Tail Pointer Trigger') },
    CDW12: { HP: bits(31, 0, 'Head Pointer') },
    CDW13: { TPT: bits(31, 0, 'Tail Pointer Trigger') },
    // The result is data.
    DW0: {},
  },
)
