import { FID } from '../admin/features.js'
import { bit, bits, bytes, count, feature, openBits, someOf, struct, structs, u16, u64, u8 } from '../layout/index.js'

/** A range of logical blocks and its use (NVM 1.2 §4.1.3.1, Figure 95). */
export const LbaRange = struct(
  'LBA Range Type Entry',
  { bytes: 64, doc: 'A range of logical blocks and its use', spec: 'NVM 1.2 §4.1.3.1' },
  {
    TYPE: someOf(u8(0, 'Type'), { GENERAL_PURPOSE: 0, FILESYSTEM: 1, RAID: 2, CACHE: 3, PAGE_OR_SWAP_FILE: 4 }),
    ATTRB: u8(1, 'Attributes', { LBARO: bit(0, 'LBA Range Overwriteable'), HLBAR: bit(1, 'Hide LBA Range') }),
    SLBA: u64(16, 'Starting LBA'),
    NLB: u64(24, "Number of Logical Blocks, 0's based"),
    GUID: bytes(32, 16, 'Unique Identifier'),
  },
)

/** The data of LBA Range Type: space for 64 ranges; NUM is the number in use (NVM 1.2 §4.1.3.1). */
export const LbaRanges = struct(
  'LBA Ranges',
  { bytes: 4096, doc: 'Up to 64 ranges', spec: 'NVM 1.2 §4.1.3.1' },
  { RANGE: structs(0, 64, LbaRange, 'LBA ranges') },
)

/** LBA Range Type (FID 03h): uses of a namespace's ranges (NVM 1.2 §4.1.3.1, Figures 93 to 95). */
export const LbaRangeType = feature(
  'LBA Range Type',
  { fid: FID.LBA_RANGE_TYPE, doc: 'Use of ranges of a namespace', spec: 'NVM 1.2 §4.1.3.1', data: LbaRanges },
  { CDW11: { NUM: count(5, 0, 'Number of LBA Ranges') } },
)

/** Error Recovery (FID 05h) of a namespace (NVM 1.2 §4.1.3.2, Figure 96). */
export const ErrorRecovery = feature(
  'Error Recovery',
  { fid: FID.ERROR_RECOVERY, doc: 'Error recovery of a namespace', spec: 'NVM 1.2 §4.1.3.2' },
  {
    CDW11: {
      TLER: bits(15, 0, 'Time Limited Error Recovery in units of 100 ms'),
      DULBE: bit(16, 'Deallocated or Unwritten Logical Block Error Enable'),
    },
  },
)

/** Write Atomicity Normal (FID 0Ah): whether AWUN and NAWUN are honored (NVM 1.2 §4.1.3.3, Figure 97). */
export const WriteAtomicityNormal = feature(
  'Write Atomicity Normal',
  { fid: FID.WRITE_ATOMICITY_NORMAL, doc: 'Use of AWUN and NAWUN', spec: 'NVM 1.2 §4.1.3.3' },
  { CDW11: { DN: bit(0, 'Disable Normal') } },
)

/**
 * LBA Status Information Attributes (FID 15h, called LBA Status Information Report Interval in Figure 91): interval for
 * querying potentially unrecoverable blocks (NVM 1.2 §4.1.3.5, Figure 99).
 */
export const LbaStatusInformationAttributes = feature(
  'LBA Status Information Attributes',
  { fid: FID.LBA_STATUS_INFORMATION_ATTRIBUTES, doc: 'Intervals of LBA status reports', spec: 'NVM 1.2 §4.1.3.5' },
  {
    CDW11: {
      LSIRI: bits(15, 0, 'LBA Status Information Report Interval in 100 ms'),
      LSIPI: bits(31, 16, 'LBA Status Information Poll Interval in 100 ms'),
    },
  },
)

/** Performance Attribute 00h; R4KARL is 0h if unknown, otherwise 1h to 17h for 100 s down to 1 ns (Figure 102). */
export const StandardPerformanceAttribute = struct(
  'Standard Performance Attribute',
  { bytes: 4096, doc: 'Latency of reads, as a range', spec: 'NVM 1.2 §4.1.3.7.1' },
  { R4KARL: u8(4, 'Random 4 KiB Average Read Latency') },
)

/** Performance Attribute C0h: the identifiers of attributes C1h to FFh, 16 bytes each (Figure 103). */
export const PerformanceAttributeIdentifiers = struct(
  'Performance Attribute Identifier List',
  { bytes: 4096, doc: 'Identifiers of the vendor specific attributes', spec: 'NVM 1.2 §4.1.3.7.2' },
  {
    ATTRIBUTES: u8(0, 'Kind of the attributes', {
      ATTRTYP: bits(2, 0, 'Attribute Type', { CURRENT: 0, DEFAULT: 1, SAVED: 2 }),
    }),
    MSVSPA: u8(1, 'Maximum Saveable Vendor Specific Performance Attributes'),
    USVSPA: u8(2, 'Unused Saveable Vendor Specific Performance Attributes'),
    PAHI: bytes(16, 1008, 'Identifiers of attributes C1h to FFh'),
  },
)

/** Performance Attributes C1h to FFh (Figure 104). */
export const VendorSpecificPerformanceAttribute = struct(
  'Vendor Specific Performance Attribute',
  { bytes: 4096, doc: 'A vendor defined attribute', spec: 'NVM 1.2 §4.1.3.7.3' },
  {
    PAID: bytes(0, 16, 'Performance Attribute Identifier'),
    ATTRL: u16(30, 'Attribute Length in bytes'),
    VS: bytes(32, 4064, 'Vendor Specific'),
  },
)

/** Performance Characteristics (FID 1Ch); ATTRI selects the attribute (NVM 1.2 §4.1.3.7, Figure 101). */
export const PerformanceCharacteristics = feature(
  'Performance Characteristics',
  { fid: FID.PERFORMANCE_CHARACTERISTICS, doc: 'Performance attributes', spec: 'NVM 1.2 §4.1.3.7' },
  {
    CDW11: {
      ATTRI: openBits(7, 0, 'Attribute Index', { STANDARD: 0x00, IDENTIFIERS: 0xc0 }),
      RVSPA: bit(8, 'Revert Vendor Specific Performance Attribute'),
    },
    // The result is data.
    DW0: {},
  },
)
