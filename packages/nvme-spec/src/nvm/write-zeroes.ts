import { bit, cdw, cdw64, cdwBit, cdwCount, nvmCommand, word32 } from '../layout/index.js'

const rangeFields = {
  SLBA: cdw64(10, 'Starting LBA'),
  NLB: cdwCount(12, 15, 0, 'Number of Logical Blocks'),
  DSPEC: cdw(13, 31, 16, 'Directive Specific'),
}

/** Marks logical blocks as unreadable until they are written (NVM 1.2 §3.3.7, Figures 76 to 78). */
export const WriteUncorrectable = nvmCommand(
  'Write Uncorrectable',
  { opcode: 0x04, doc: 'Marks logical blocks as unreadable', spec: 'NVM 1.2 §3.3.7' },
  { ...rangeFields, DTYPE: cdw(12, 23, 20, 'Directive Type') },
)

/** Sets logical blocks to zero, or the whole namespace with NSZ and DEAC (NVM 1.2 §3.3.8, Figures 80 to 86). */
export const WriteZeroes = nvmCommand(
  'Write Zeroes',
  { opcode: 0x08, doc: 'Clears logical blocks to zero', spec: 'NVM 1.2 §3.3.8' },
  {
    ...rangeFields,
    CETYPE: cdw(12, 19, 16, 'Command Extension Type'),
    DTYPE: cdw(12, 22, 20, 'Directive Type'),
    NSZ: cdwBit(12, 23, 'Namespace Zeroes'),
    STC: cdwBit(12, 24, 'Storage Tag Check; 0'),
    DEAC: cdwBit(12, 25, 'Deallocate'),
    PRINFO: cdw(12, 29, 26, 'Protection Information; PRCHK is 0'),
    FUA: cdwBit(12, 30, 'Force Unit Access'),
    LR: cdwBit(12, 31, 'Limited Retry'),
    CEV: cdw(13, 15, 0, 'Command Extension Value'),
    LBTU2: cdw(2, 15, 0, 'Logical Block Tags Upper, bits 47:32'),
    LBTU3: cdw(3, 31, 0, 'Logical Block Tags Upper, bits 31:00'),
    LBTL: cdw(14, 31, 0, 'Logical Block Tags Lower'),
    LBAT: cdw(15, 15, 0, 'Logical Block Application Tag'),
    LBATM: cdw(15, 31, 16, 'Logical Block Application Tag Mask'),
  },
)

/** Dword 0 of the completion of Write Zeroes with NSZ (NVM 1.2 §3.3.8.1, Figure 87). */
export const WriteZeroesDw0 = word32(
  'WriteZeroes.DW0',
  { doc: 'Completion of Write Zeroes', spec: 'NVM 1.2 §3.3.8.1' },
  { LBACZ: bit(0, 'LBAs Cleared to Zero, all of the namespace') },
)
