import { bit, bits } from './layout/bits.js'
import { u16, u32 } from './layout/field.js'
import { struct } from './layout/struct.js'

/** The completion queue entry: 16 bytes. DW3's upper half carries the Phase Tag in its bit 0 and the Status above it. */
export const CQE = struct(
  'CQE',
  { bytes: 16, doc: 'Completion Queue Entry', spec: 'Base 2.1 §4.2.1' },
  {
    DW0: u32(0, 'Command Specific'),
    DW1: u32(4, 'Command Specific'),
    SQHD: u16(8, 'SQ Head Pointer'),
    SQID: u16(10, 'SQ Identifier'),
    CID: u16(12, 'Command Identifier'),
    STATUS: u16(14, 'Phase Tag and Status', {
      P: bit(0, 'Phase Tag'),
      SC: bits(8, 1, 'Status Code'),
      SCT: bits(11, 9, 'Status Code Type'),
      CRD: bits(13, 12, 'Command Retry Delay'),
      M: bit(14, 'More'),
      DNR: bit(15, 'Do Not Retry'),
    }),
  },
)
