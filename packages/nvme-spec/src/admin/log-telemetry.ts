import { bytes, oneOf, struct, u16, u32, u8 } from '../layout/index.js'

/** Length in bytes of a Telemetry Data Block, the unit of reads and of data area limits (Base 2.1 §5.1.12.1.8). */
export const TELEMETRY_BLOCK_BYTES = 512

const scopes = { NOT_REPORTED: 0, CONTROLLER: 1, NVM_SUBSYSTEM: 2 }

/**
 * Header of Telemetry Host-Initiated (LID 07h; Base 2.1 §5.1.12.1.8, Figure 214). Data blocks of 512 bytes follow,
 * numbered from 1; data area y is blocks 1 to THDAyLB.
 */
export const TelemetryHostHeader = struct(
  'Telemetry Host-Initiated header',
  { bytes: 512, doc: 'The header (LID 07h)', spec: 'Base 2.1 §5.1.12.1.8' },
  {
    LID: u8(0, 'Log Page Identifier: 07h'),
    IEEE: bytes(5, 3, 'IEEE OUI Identifier'),
    THDA1LB: u16(8, 'Data Area 1 Last Block'),
    THDA2LB: u16(10, 'Data Area 2 Last Block'),
    THDA3LB: u16(12, 'Data Area 3 Last Block'),
    THDA4LB: u32(16, 'Data Area 4 Last Block'),
    THS: oneOf(u8(380, 'Telemetry Host-Initiated Scope'), scopes),
    THDGN: u8(381, 'Host-Initiated Data Generation Number'),
    TCDA: u8(382, 'Controller-Initiated Data Available'),
    TCDGN: u8(383, 'Controller-Initiated Data Generation Number'),
    RID: bytes(384, 128, 'Reason Identifier, vendor specific'),
  },
)

/**
 * Header of Telemetry Controller-Initiated (LID 08h; Base 2.1 §5.1.12.1.9, Figure 216). If TCDA is 1, data blocks
 * follow as in Telemetry Host-Initiated.
 */
export const TelemetryControllerHeader = struct(
  'Telemetry Controller-Initiated header',
  { bytes: 512, doc: 'The header (LID 08h)', spec: 'Base 2.1 §5.1.12.1.9' },
  {
    LID: u8(0, 'Log Page Identifier: 08h'),
    IEEE: bytes(5, 3, 'IEEE OUI Identifier'),
    TCDA1LB: u16(8, 'Data Area 1 Last Block'),
    TCDA2LB: u16(10, 'Data Area 2 Last Block'),
    TCDA3LB: u16(12, 'Data Area 3 Last Block'),
    TCDA4LB: u32(16, 'Data Area 4 Last Block'),
    TCS: oneOf(u8(381, 'Telemetry Controller-Initiated Scope'), scopes),
    TCDA: u8(382, 'Controller-Initiated Data Available'),
    TCDGN: u8(383, 'Controller-Initiated Data Generation Number'),
    RID: bytes(384, 128, 'Reason Identifier, vendor specific'),
  },
)
