import { bit, bits, struct, u32, u8 } from '../layout/index.js'

/**
 * Header of Boot Partition (LID 15h; Base 2.3 §5.2.12.1.21, Figure 273). Its contents follow: BPSZ units of 128 KiB.
 */
export const BootPartitionHeader = struct(
  'Boot Partition header',
  { bytes: 16, doc: 'The header (LID 15h)', spec: 'Base 2.3 §5.2.12.1.21' },
  {
    LID: u8(0, 'Log Page Identifier: 15h'),
    BPINFO: u32(4, 'Boot Partition Information', {
      BPSZ: bits(14, 0, 'Boot Partition Size, in 128 KiB units'),
      ABPID: bit(31, 'Active Boot Partition ID'),
    }),
  },
)
