import { adminCommand, cdw, cdwBit } from '../layout/command.js'

/** Formats a namespace, or all of them (Base 2.1 §5.1.10, Figure 189; MSET, PI and PIL in NVM 1.2 §4.1.2, Figure 90). */
export const FormatNvm = adminCommand(
  'Format NVM',
  { opcode: 0x80, doc: 'Low level format', spec: 'Base 2.1 §5.1.10' },
  {
    LBAFL: cdw(10, 3, 0, 'LBA Format Lower: bits 3:0 of the Format Index'),
    MSET: cdwBit(10, 4, 'Metadata Settings: 1 for extended LBAs'),
    PI: cdw(10, 7, 5, 'Protection Information', { DISABLED: 0, TYPE_1: 1, TYPE_2: 2, TYPE_3: 3 }),
    PIL: cdwBit(10, 8, 'Protection Information Location: 1 for first'),
    SES: cdw(10, 11, 9, 'Secure Erase Settings', { NONE: 0, USER_DATA_ERASE: 1, CRYPTOGRAPHIC_ERASE: 2 }),
    LBAFU: cdw(10, 13, 12, 'LBA Format Upper: bits 5:4 of the Format Index'),
  },
)
