import { adminCommand, bit, bits, cdw, cdwBit, cdwOpen, codes, u32, word32 } from '../layout/index.js'

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
