import { cdw, cdw64, cdwBit, cdwCount, nvmCommand } from '../layout/command.js'

const checkFields = {
  SLBA: cdw64(10, 'Starting LBA'),
  NLB: cdwCount(12, 15, 0, 'Number of Logical Blocks'),
  CETYPE: cdw(12, 19, 16, 'Command Extension Type'),
  STC: cdwBit(12, 24, 'Storage Tag Check'),
  PRINFO: cdw(12, 29, 26, 'Protection Information; PRACT is 0'),
  FUA: cdwBit(12, 30, 'Force Unit Access'),
  LR: cdwBit(12, 31, 'Limited Retry'),
  CEV: cdw(13, 15, 0, 'Command Extension Value'),
  ELBTU2: cdw(2, 15, 0, 'Expected Logical Block Tags Upper, bits 47:32'),
  ELBTU3: cdw(3, 31, 0, 'Expected Logical Block Tags Upper, bits 31:00'),
  ELBTL: cdw(14, 31, 0, 'Expected Logical Block Tags Lower'),
  ELBAT: cdw(15, 15, 0, 'Expected Logical Block Application Tag'),
  ELBATM: cdw(15, 31, 16, 'Expected Logical Block Application Tag Mask'),
}

/** Compares logical blocks with data in memory (NVM 1.2 §3.3.1, Figures 22 to 29). */
export const Compare = nvmCommand(
  'Compare',
  { opcode: 0x05, doc: 'Compares logical blocks with data in memory', spec: 'NVM 1.2 §3.3.1' },
  checkFields,
)

/** Checks logical blocks without transferring them (NVM 1.2 §3.3.5, Figures 59 to 64). */
export const Verify = nvmCommand(
  'Verify',
  { opcode: 0x0c, doc: 'Checks logical blocks without transferring them', spec: 'NVM 1.2 §3.3.5' },
  checkFields,
)
