import { ascii, bit, bits, bytes, codes, someOf, struct, structs, u128, u16, u32, u64, u8 } from '../layout/index.js'
import { TimestampData } from './feature/timestamp.js'

/** Types of persistent events (Base 2.1 §5.1.12.1.14.2, Figure 229). */
export const PERSISTENT_EVENT = codes(
  'PERSISTENT_EVENT',
  { doc: 'Persistent Event Log Event Types', spec: 'Base 2.1 §5.1.12.1.14.2' },
  {
    SMART_HEALTH_LOG_SNAPSHOT: 0x01,
    FIRMWARE_COMMIT: 0x02,
    TIMESTAMP_CHANGE: 0x03,
    POWER_ON_OR_RESET: 0x04,
    NVM_SUBSYSTEM_HARDWARE_ERROR: 0x05,
    CHANGE_NAMESPACE: 0x06,
    FORMAT_NVM_START: 0x07,
    FORMAT_NVM_COMPLETION: 0x08,
    SANITIZE_START: 0x09,
    SANITIZE_COMPLETION: 0x0a,
    SET_FEATURE: 0x0b,
    TELEMETRY_LOG_CREATED: 0x0c,
    THERMAL_EXCURSION: 0x0d,
    SANITIZE_MEDIA_VERIFICATION: 0x0e,
    VENDOR_SPECIFIC: 0xde,
    TCG_DEFINED: 0xdf,
  },
)

/**
 * Header of the Persistent Event Log (LID 0Dh; Base 2.3 §5.2.12.1.14, Figure 230). TNEV events follow, TLL bytes
 * including this header.
 */
export const PersistentEventLogHeader = struct(
  'Persistent Event Log header',
  { bytes: 512, doc: 'The header (LID 0Dh)', spec: 'Base 2.3 §5.2.12.1.14' },
  {
    LID: u8(0, 'Log Page Identifier: 0Dh'),
    TNEV: u32(4, 'Total Number of Events'),
    TLL: u64(8, 'Total Log Length in bytes'),
    LREV: u8(16, 'Log Revision'),
    LHL: u16(18, 'Log Header Length: bytes of the header after byte 19'),
    TSTMP: structs(20, 1, TimestampData, 'Timestamp of the reporting context'),
    POH: u128(28, 'Power On Hours'),
    PWRC: u64(44, 'Power Cycle Count'),
    VID: u16(52, 'PCI Vendor ID'),
    SSVID: u16(54, 'PCI Subsystem Vendor ID'),
    SN: ascii(56, 20, 'Serial Number'),
    MN: ascii(76, 40, 'Model Number'),
    SUBNQN: ascii(116, 256, 'NVM Subsystem NVMe Qualified Name', 0),
    GNUM: u16(372, 'Generation Number'),
    RCI: u32(374, 'Reporting Context Information', {
      RCPID: bits(15, 0, 'Reporting Context Port Identifier'),
      RCPIT: bits(17, 16, 'Port Identifier Type', { NO_CONTEXT: 0, NVM_SUBSYSTEM_PORT: 1, MANAGEMENT_ENDPOINT: 2 }),
      RCE: bit(18, 'Reporting Context Exists'),
    }),
    SEB: bytes(480, 32, 'Supported Events Bitmap: one bit per type'),
  },
)

/**
 * Header of a persistent event (Base 2.3 §5.2.12.1.14, Figure 231). The event is EHL + 3 + EL bytes long: EHL + 3 bytes
 * of header, VSIL vendor specific bytes, then the data of the event type.
 */
export const PersistentEventHeader = struct(
  'Persistent Event header',
  { bytes: 24, doc: 'Header of a persistent event', spec: 'Base 2.3 §5.2.12.1.14' },
  {
    ET: someOf(u8(0, 'Event Type'), PERSISTENT_EVENT.values),
    ETR: u8(1, 'Event Type Revision'),
    EHL: u8(2, 'Event Header Length: bytes of the header after byte 2'),
    EHAI: u8(3, 'Event Header Additional Information', {
      PIT: bits(1, 0, 'Port Identifier Type', {
        NOT_REPORTED: 0,
        NVM_SUBSYSTEM_PORT: 1,
        MANAGEMENT_ENDPOINT: 2,
        NO_PORT: 3,
      }),
    }),
    CNTLID: u16(4, 'Controller Identifier'),
    ETSTP: structs(6, 1, TimestampData, 'Event Timestamp'),
    PELPID: u16(14, 'Port Identifier'),
    VSIL: u16(20, 'Vendor Specific Information Length in bytes'),
    EL: u16(22, 'Event Length: bytes after the header'),
  },
)
