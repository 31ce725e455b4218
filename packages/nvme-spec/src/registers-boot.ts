import { bit, bits, register32, register64, wideBits } from './layout/index.js'

// Boot Partitions (Base 2.1 §8.1.3): 0h unless CAP.BPS is 1.

/** Boot Partition Information (Base 2.1 Figure 49). */
export const BPINFO = register32(
  'BPINFO',
  { offset: 0x40, access: 'ro', doc: 'Boot Partition Information', spec: 'Base 2.1 §3.1.4.13' },
  {
    BPSZ: bits(14, 0, 'Boot Partition Size, in 128 KiB units'),
    BRS: bits(25, 24, 'Boot Read Status', { NONE: 0, IN_PROGRESS: 1, SUCCESS: 2, ERROR: 3 }),
    ABPID: bit(31, 'Active Boot Partition ID'),
  },
)

/** Boot Partition Read Select (Base 2.1 Figure 50): writing it starts a read into the memory of BPMBL. */
export const BPRSEL = register32(
  'BPRSEL',
  { offset: 0x44, access: 'rw', doc: 'Boot Partition Read Select', spec: 'Base 2.1 §3.1.4.14' },
  {
    BPRSZ: bits(9, 0, 'Read Size, in 4 KiB units'),
    BPROF: bits(29, 10, 'Read Offset, in 4 KiB units'),
    BPID: bit(31, 'Boot Partition Identifier'),
  },
)

/** Boot Partition Memory Buffer Location (Base 2.1 Figure 51). */
export const BPMBL = register64(
  'BPMBL',
  { offset: 0x48, access: 'rw', doc: 'Boot Partition Memory Buffer Location', spec: 'Base 2.1 §3.1.4.15' },
  { BMBBA: wideBits(63, 12, 'Base Address: address bits 63:12') },
)
