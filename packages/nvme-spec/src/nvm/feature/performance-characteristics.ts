import { FID } from '../../admin/features.js'
import { bit, bits, bytes, feature, openBits, struct, u16, u8 } from '../../layout/index.js'

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
