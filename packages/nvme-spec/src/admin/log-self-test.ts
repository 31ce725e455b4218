import { bit, bits, inHex, openBits, struct, structs, u16, u32, u64, u8 } from '../layout/index.js'

/** Result of a self-test (Base 2.3 §5.2.12.1.7, Figure 216; bytes 27:4 in Base 2.1 Figure 212). */
export const SelfTestResult = struct(
  'Self-test Result',
  { bytes: 28, doc: 'Result of a device self-test', spec: 'Base 2.3 §5.2.12.1.7' },
  {
    DSTS: u8(0, 'Device Self-test Status', {
      DSTR: bits(3, 0, 'Device Self-test Result', {
        COMPLETED: 0x0,
        ABORTED_BY_COMMAND: 0x1,
        ABORTED_BY_RESET: 0x2,
        ABORTED_BY_NAMESPACE_REMOVAL: 0x3,
        ABORTED_BY_FORMAT: 0x4,
        FATAL_ERROR: 0x5,
        UNKNOWN_SEGMENT_FAILED: 0x6,
        SEGMENT_FAILED: 0x7,
        ABORTED_UNKNOWN: 0x8,
        ABORTED_BY_SANITIZE: 0x9,
        EMPTY: 0xf,
      }),
      DSTC: openBits(7, 4, 'Self-test Code', {
        EMPTY: 0x0,
        SHORT: 0x1,
        EXTENDED: 0x2,
        HOST_INITIATED_REFRESH: 0x3,
        VENDOR_SPECIFIC: 0xe,
      }),
    }),
    SEGN: u8(1, 'Segment Number of the first failed segment'),
    VDINFO: u8(2, 'Valid Diagnostic Information', {
      NSIDVLD: bit(0, 'NSID Valid'),
      FVLD: bit(1, 'FLBA Valid'),
      SCTVLD: bit(2, 'SCT Valid'),
      SCVLD: bit(3, 'SC Valid'),
    }),
    POH: u64(4, 'Power On Hours'),
    NSID: u32(12, 'Namespace Identifier'),
    FLBA: u64(16, 'Failing LBA'),
    STCT: u8(24, 'Status Code Type', { ASTCI: bits(2, 0, 'Additional Status Code Info') }),
    STC: inHex(u8(25, 'Status Code')),
    VS: inHex(u16(26, 'Vendor Specific')),
  },
)

/** Device Self-test (LID 06h; Base 2.3 §5.2.12.1.7, Figure 215): newest result first. */
export const SelfTestLog = struct(
  'Device Self-test log',
  { bytes: 564, doc: 'The log page (LID 06h)', spec: 'Base 2.3 §5.2.12.1.7' },
  {
    CDSTO: u8(0, 'Current Device Self-Test Operation', {
      DSTOS: openBits(3, 0, 'Device Self-test Operation Status', {
        NONE: 0x0,
        SHORT: 0x1,
        EXTENDED: 0x2,
        HOST_INITIATED_REFRESH: 0x3,
        VENDOR_SPECIFIC: 0xe,
      }),
    }),
    CDSTC: u8(1, 'Current Device Self-Test Completion', {
      DSTCS: bits(6, 0, 'Device Self-test Completion Status in percent'),
    }),
    RDS: structs(4, 20, SelfTestResult, 'Result Data Structures, newest first'),
  },
)
