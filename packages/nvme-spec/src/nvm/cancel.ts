import { bits, cdw, cdwOpen, nvmCommand, word32 } from '../layout/index.js'

/**
 * Aborts commands of the same submission queue (Base 2.2 §7.1, Figures 557 and 558). ABORTED_CID is the figure's CID,
 * renamed since every entry has a CID of its own; FFFFh for MULTIPLE.
 */
export const Cancel = nvmCommand(
  'Cancel',
  { opcode: 0x18, doc: 'Aborts commands of the same submission queue', spec: 'Base 2.2 §7.1' },
  {
    SQID: cdw(10, 15, 0, 'Submission Queue Identifier'),
    ABORTED_CID: cdw(10, 31, 16, 'Command Identifier'),
    ACODE: cdwOpen(11, 1, 0, 'Action Code', { SINGLE: 0, MULTIPLE: 1 }),
  },
)

/** Dword 0 of the completion of Cancel: number of commands (Base 2.2 §7.1, Figure 560). */
export const CancelDw0 = word32(
  'Cancel.DW0',
  { doc: 'Completion of Cancel', spec: 'Base 2.2 §7.1' },
  {
    CMDA: bits(15, 0, 'Commands Aborted immediately'),
    CEDA: bits(31, 16, 'Commands Eligible for Deferred Abort'),
  },
)
