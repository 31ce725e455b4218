import { cdw, cdwCount, cdwOpen, n64, nvmCommand, struct, u16, u32 } from '../layout/index.js'

/** Returns information for managing I/O (Base 2.2 §7.3, Figures 561 to 563). */
export const IoManagementReceive = nvmCommand(
  'I/O Management Receive',
  { opcode: 0x12, doc: 'Returns information for managing I/O', spec: 'Base 2.2 §7.3' },
  {
    MO: cdwOpen(10, 7, 0, 'Management Operation', { NO_ACTION: 0, RECLAIM_UNIT_HANDLE_STATUS: 1 }),
    MOS: cdw(10, 31, 16, 'Management Operation Specific'),
    NUMD: cdwCount(11, 31, 0, 'Number of Dwords'),
  },
)

/**
 * Manages I/O (Base 2.2 §7.4, Figures 565 to 568). For RECLAIM_UNIT_HANDLE_UPDATE, MOS is the 0's based number of
 * Placement Identifiers, and the data are these 16-bit identifiers.
 */
export const IoManagementSend = nvmCommand(
  'I/O Management Send',
  { opcode: 0x1d, doc: 'Manages I/O', spec: 'Base 2.2 §7.4' },
  {
    MO: cdwOpen(10, 7, 0, 'Management Operation', { NO_ACTION: 0, RECLAIM_UNIT_HANDLE_UPDATE: 1 }),
    MOS: cdw(10, 31, 16, 'Management Operation Specific'),
  },
)

/** Header before NRUHSD `ReclaimUnitHandleStatusDescriptor` structures (Base 2.2 §7.3.1.1, Figure 564). */
export const ReclaimUnitHandleStatus = struct(
  'Reclaim Unit Handle Status',
  { bytes: 16, doc: 'Header of the list of handles', spec: 'Base 2.2 §7.3.1.1' },
  { NRUHSD: u16(14, 'Number of Reclaim Unit Handle Status Descriptors') },
)

/** Target of a Placement Identifier, in the NVM Command Set (NVM 1.2 §3.2.1.1, Figure 20). */
export const ReclaimUnitHandleStatusDescriptor = struct(
  'Reclaim Unit Handle Status Descriptor',
  { bytes: 32, doc: 'Target of a Placement Identifier', spec: 'NVM 1.2 §3.2.1.1' },
  {
    PID: u16(0, 'Placement Identifier'),
    RUHID: u16(2, 'Reclaim Unit Handle Identifier'),
    EARUTR: u32(4, 'Estimated Active Reclaim Unit Time Remaining, seconds'),
    RUAMW: n64(8, 'Reclaim Unit Available Media Writes in logical blocks'),
  },
)
