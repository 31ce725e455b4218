import { cdw, cdw64, cdwBit, cdwCount, command } from '../layout/command.js'

const readWriteFields = {
  SLBA: cdw64(10, 'Starting LBA'),
  NLB: cdwCount(12, 15, 0, 'Number of Logical Blocks'),
  CETYPE: cdw(12, 19, 16, 'Command Extension Type'),
  STC: cdwBit(12, 24, 'Storage Tag Check'),
  PRINFO: cdw(12, 29, 26, 'Protection Information'),
  FUA: cdwBit(12, 30, 'Force Unit Access'),
  LR: cdwBit(12, 31, 'Limited Retry'),
  DSM: cdw(13, 7, 0, 'Dataset Management'),
}

/**
 * Reads logical blocks (NVM 1.2 §3.3.4, Figures 49 to 57). ELBTU occupies two dwords, upper half first: use `packTags`.
 * The bits of PRINFO and DSM are the words of those names. If CETYPE is not 0, Command Dword 13 is
 * `CommandExtensionCdw13`.
 */
export const Read = command(
  'Read',
  'nvm',
  { opcode: 0x02, doc: 'Reads logical blocks', spec: 'NVM 1.2 §3.3.4' },
  {
    ...readWriteFields,
    ELBTU2: cdw(2, 15, 0, 'Expected Logical Block Tags Upper, bits 47:32'),
    ELBTU3: cdw(3, 31, 0, 'Expected Logical Block Tags Upper, bits 31:00'),
    ELBTL: cdw(14, 31, 0, 'Expected Logical Block Tags Lower'),
    ELBAT: cdw(15, 15, 0, 'Expected Logical Block Application Tag'),
    ELBATM: cdw(15, 31, 16, 'Expected Logical Block Application Tag Mask'),
  },
)

/** Writes logical blocks (NVM 1.2 §3.3.6, Figures 66 to 74); LBTU, PRINFO, DSM and CETYPE as for Read. */
export const Write = command(
  'Write',
  'nvm',
  { opcode: 0x01, doc: 'Writes logical blocks', spec: 'NVM 1.2 §3.3.6' },
  {
    ...readWriteFields,
    DTYPE: cdw(12, 23, 20, 'Directive Type'),
    DSPEC: cdw(13, 31, 16, 'Directive Specific'),
    LBTU2: cdw(2, 15, 0, 'Logical Block Tags Upper, bits 47:32'),
    LBTU3: cdw(3, 31, 0, 'Logical Block Tags Upper, bits 31:00'),
    LBTL: cdw(14, 31, 0, 'Logical Block Tags Lower'),
    LBAT: cdw(15, 15, 0, 'Logical Block Application Tag'),
    LBATM: cdw(15, 31, 16, 'Logical Block Application Tag Mask'),
  },
)
