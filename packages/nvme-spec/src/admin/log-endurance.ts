import { bit, struct, u128, u16, u32, u64, u8 } from '../layout/index.js'

/** Endurance Group Information (LID 09h; Base 2.3 §5.2.12.1.10, Figure 222), of the group selected by LSI. */
export const EnduranceGroupLog = struct(
  'Endurance Group Information',
  { bytes: 512, doc: 'The log page (LID 09h)', spec: 'Base 2.3 §5.2.12.1.10' },
  {
    EGCW: u8(0, 'Endurance Group Critical Warning', {
      EGASB: bit(0, 'Endurance Group Available Spare Below threshold'),
      EGDR: bit(2, 'Endurance Group Degraded Reliability'),
      EGRO: bit(3, 'Endurance Group Read-Only'),
    }),
    EGFEAT: u8(1, 'Endurance Group Features', { EGRMEDIA: bit(0, 'Data on rotational media') }),
    AVSP: u8(3, 'Available Spare in percent'),
    AVSPT: u8(4, 'Available Spare Threshold in percent'),
    PUSED: u8(5, 'Percentage Used; 255 means more than 254'),
    DID: u16(6, 'Domain Identifier'),
    EE: u128(32, 'Endurance Estimate in 1,000,000,000 bytes'),
    DUR: u128(48, 'Data Units Read in 1,000,000,000 bytes'),
    DUW: u128(64, 'Data Units Written in 1,000,000,000 bytes'),
    MUW: u128(80, 'Media Units Written in 1,000,000,000 bytes'),
    HRC: u128(96, 'Host Read Commands'),
    HWC: u128(112, 'Host Write Commands'),
    MDIE: u128(128, 'Media and Data Integrity Errors'),
    NEILE: u128(144, 'Number of Error Information Log Entries'),
    TEGCAP: u128(160, 'Total Endurance Group Capacity in bytes'),
    UEGCAP: u128(176, 'Unallocated Endurance Group Capacity in bytes'),
  },
)

/**
 * Header of Endurance Group Event Aggregate (LID 0Fh; Base 2.1 §5.1.12.1.15, Figure 252). NUMENT 16-bit identifiers
 * follow: the Endurance Groups with a pending event, in increasing order.
 */
export const EnduranceGroupEventAggregate = struct(
  'Endurance Group Event Aggregate header',
  { bytes: 8, doc: 'The header (LID 0Fh)', spec: 'Base 2.1 §5.1.12.1.15' },
  { NUMENT: u64(0, 'Number of Entries') },
)

/**
 * Rotational Media Information (LID 16h; Base 2.3 §5.2.12.1.22, Figure 274), of the Endurance Group selected by LSI.
 */
export const RotationalMediaLog = struct(
  'Rotational Media Information',
  { bytes: 512, doc: 'The log page (LID 16h)', spec: 'Base 2.3 §5.2.12.1.22' },
  {
    ENDGID: u16(0, 'Endurance Group Identifier'),
    NUMA: u16(2, 'Number of Actuators'),
    NRS: u16(4, 'Nominal Rotational Speed per minute'),
    SPINC: u32(8, 'Spinup Count'),
    FSPINC: u32(12, 'Failed Spinup Count'),
    LDC: u32(16, 'Load Count'),
    FLDC: u32(20, 'Failed Load Count'),
  },
)
