import { adminCommand, bits, cdw, cdw64, cdwCount, count32, n64, oneOf, struct, u32, u8 } from '../layout/index.js'

/** Returns which logical blocks are allocated, or may be unrecoverable (NVM 1.2 §4.2.1, Figures 127 to 130). */
export const GetLbaStatus = adminCommand(
  'Get LBA Status',
  { opcode: 0x86, doc: 'Reports the status of LBAs', spec: 'NVM 1.2 §4.2.1' },
  {
    SLBA: cdw64(10, 'Starting LBA'),
    MNDW: cdwCount(12, 31, 0, 'Maximum Number of Dwords'),
    RL: cdw(13, 15, 0, 'Range Length in logical blocks; 0 for up to the end'),
    ATYPE: cdw(13, 31, 24, 'Action Type', { ALLOCATED: 0x02, SCAN: 0x10, TRACKED: 0x11 }),
  },
)

/** Header of the returned list; NLSD entries follow (NVM 1.2 §4.2.1.2, Figure 131). */
export const LbaStatusDescriptorList = struct(
  'LBA Status Descriptor List',
  { bytes: 8, doc: 'LBA Status header', spec: 'NVM 1.2 §4.2.1.2' },
  {
    NLSD: u32(0, 'Number of LBA Status Descriptors'),
    CMPC: oneOf(u8(4, 'Completion Condition'), { NOT_INDICATED: 0, INCOMPLETE: 1, COMPLETE: 2 }),
  },
)

/** An entry of the list: a range of logical blocks (NVM 1.2 §4.2.1.2, Figure 132). */
export const LbaStatusDescriptor = struct(
  'LBA Status Descriptor Entry',
  { bytes: 16, doc: 'A range of logical blocks and its status', spec: 'NVM 1.2 §4.2.1.2' },
  {
    DSLBA: n64(0, 'Descriptor Starting LBA'),
    NLB: count32(8, 'Number of Logical Blocks'),
    STAS: u8(13, 'Status', {
      LBARS: bits(2, 0, 'LBA Range Status', {
        MAY_BE_UNRECOVERABLE: 0,
        UNRECOVERABLE: 1,
        ALLOCATED: 2,
        WRITTEN_UNCORRECTABLE: 3,
      }),
    }),
  },
)
