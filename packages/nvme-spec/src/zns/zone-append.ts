import { cdw, cdw64, cdwBit, cdwCount, n64, struct, znsCommand } from '../layout/index.js'

/** Writes logical blocks at the zone's write pointer (ZNS 1.1 §3.4.1, Figures 22 to 29). */
export const ZoneAppend = znsCommand(
  'Zone Append',
  { opcode: 0x7d, doc: 'Writes at the write pointer of a zone', spec: 'ZNS 1.1 §3.4.1' },
  {
    ZSLBA: cdw64(10, 'Zone Start Logical Block Address'),
    NLB: cdwCount(12, 15, 0, 'Number of Logical Blocks'),
    DTYPE: cdw(12, 23, 20, 'Directive Type'),
    STC: cdwBit(12, 24, 'Storage Tag Check'),
    PIREMAP: cdwBit(12, 25, 'Protection Information Remap'),
    PRINFO: cdw(12, 29, 26, 'Protection Information'),
    FUA: cdwBit(12, 30, 'Force Unit Access'),
    LR: cdwBit(12, 31, 'Limited Retry'),
    DSPEC: cdw(13, 31, 16, 'Directive Specific'),
    LBTU2: cdw(2, 15, 0, 'Logical Block Tags Upper, bits 47:32'),
    LBTU3: cdw(3, 31, 0, 'Logical Block Tags Upper, bits 31:00'),
    LBTL: cdw(14, 31, 0, 'Logical Block Tags Lower'),
    LBAT: cdw(15, 15, 0, 'Logical Block Application Tag'),
    LBATM: cdw(15, 31, 16, 'Logical Block Application Tag Mask'),
  },
)

/** Dwords 0 and 1 of the completion of Zone Append: the LBA where the blocks were written (ZNS 1.1 §3.4.1.2). */
export const ZoneAppendCompletion = struct(
  'Zone Append Completion',
  { bytes: 8, doc: 'Dwords 0 and 1 of the completion', spec: 'ZNS 1.1 §3.4.1.2' },
  { ALBA: n64(0, 'Assigned LBA') },
)
