import { bit, bits, struct, u16, u64, u8 } from '../layout/index.js'

/**
 * Predictable Latency Per NVM Set (LID 0Ah; Base 2.3 §5.2.12.1.11, Figure 224), of the NVM Set selected by LSI. Read
 * values refer to 4 KiB, write values to the Optimal Write Size.
 */
export const PredictableLatencyLog = struct(
  'Predictable Latency Per NVM Set',
  { bytes: 512, doc: 'The log page (LID 0Ah)', spec: 'Base 2.3 §5.2.12.1.11' },
  {
    STSNVMS: u8(0, 'Status', {
      PLMW: bits(2, 0, 'Predictable Latency Mode Window', { NOT_USED: 0, DTWIN: 1, NDWIN: 2 }),
    }),
    ETYP: u16(2, 'Event Type', {
      DTRW: bit(0, 'DTWIN Reads Warning'),
      DTWW: bit(1, 'DTWIN Writes Warning'),
      DTTW: bit(2, 'DTWIN Time Warning'),
      MVEAT: bit(14, 'Maximum Value Exceeded Autonomous Transition'),
      DEAT: bit(15, 'Deterministic Excursion Autonomous Transition'),
    }),
    DTWRT: u64(32, 'DTWIN Reads Typical'),
    DTWWT: u64(40, 'DTWIN Writes Typical'),
    DTWTM: u64(48, 'DTWIN Time Maximum in milliseconds'),
    NTWTMH: u64(56, 'NDWIN Time Minimum High in milliseconds'),
    NTWTML: u64(64, 'NDWIN Time Minimum Low in milliseconds'),
    DTWRE: u64(128, 'DTWIN Reads Estimate'),
    DTWWE: u64(136, 'DTWIN Writes Estimate'),
    DTWTE: u64(144, 'DTWIN Time Estimate in milliseconds'),
  },
)

/**
 * Header of Predictable Latency Event Aggregate (LID 0Bh; Base 2.3 §5.2.12.1.12, Figure 225). NUMENT 16-bit identifiers
 * follow: the NVM Sets with a pending event, in increasing order.
 */
export const PredictableLatencyEventAggregate = struct(
  'Predictable Latency Event Aggregate header',
  { bytes: 8, doc: 'The header (LID 0Bh)', spec: 'Base 2.3 §5.2.12.1.12' },
  { NUMENT: u64(0, 'Number of Entries') },
)
