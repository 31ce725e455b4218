import { CQE } from '../cqe.js'
import { bits, inHex, someOf, struct, u16, u32, u64, u8 } from '../layout/index.js'
import { CSI } from './identify.js'

/**
 * An entry of Error Information (LID 01h; Base 2.3 §5.2.12.1.2, Figure 209), most recent first. SQID, CID and PEL are
 * FFFFh for an error that belongs to no command. CSI and OPC are valid if LPVER is 1 or more. STS has the rows of a
 * completion's status. Names of TRTYPE: libnvme 1.3 `nvmf_trtype`.
 */
export const ErrorLogEntry = struct(
  'Error Information Log Entry',
  { bytes: 64, doc: 'An error log entry (LID 01h)', spec: 'Base 2.3 §5.2.12.1.2' },
  {
    ECNT: u64(0, 'Error Count; 0 means no entry'),
    SQID: u16(8, 'Submission Queue ID'),
    CID: inHex(u16(10, 'Command ID')),
    STS: u16(12, 'Status Info', CQE.fields.STATUS.rows),
    PEL: u16(14, 'Parameter Error Location', {
      BYTLOC: bits(7, 0, 'Byte Location in the submission queue entry'),
      BITLOC: bits(10, 8, 'Bit Location in that byte'),
    }),
    LBA: u64(16, 'Logical Block Address'),
    NSID: u32(24, 'Namespace Identifier'),
    VSIA: inHex(u8(28, 'LID of Vendor Specific Information Available')),
    TRTYPE: someOf(u8(29, 'Transport Type'), { NONE: 0, RDMA: 1, FC: 2, TCP: 3 }),
    CSI: someOf(u8(30, 'Command Set Indicator'), CSI.values),
    OPC: inHex(u8(31, 'Opcode')),
    CSINFO: u64(32, 'Command Specific Information'),
    TTSI: u16(40, 'Transport Type Specific Information'),
    LPVER: u8(63, 'Log Page Version'),
  },
)
