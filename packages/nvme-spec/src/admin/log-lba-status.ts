import { count32, n64, oneOf, struct, u16, u32, u8 } from '../layout/index.js'

/** Header of LBA Status Information (LID 0Eh; NVM 1.2 §4.1.4.5, Figure 109). NLSLNE namespace elements follow. */
export const LbaStatusLogHeader = struct(
  'LBA Status Information header',
  { bytes: 16, doc: 'The header (LID 0Eh)', spec: 'NVM 1.2 §4.1.4.5' },
  {
    LSLPLEN: u32(0, 'LBA Status Log Page Length in bytes'),
    NLSLNE: u32(4, 'Number of LBA Status Log Namespace Elements'),
    ESTULB: u32(8, 'Estimate of Unrecoverable Logical Blocks'),
    LSGC: u16(14, 'LBA Status Generation Counter'),
  },
)

/**
 * Header of a namespace element (NVM 1.2 §4.1.4.5, Figure 110). NLRD range descriptors follow; FFFFFFFFh means none.
 */
export const LbaStatusNamespaceElement = struct(
  'LBA Status Log Namespace Element',
  { bytes: 16, doc: 'Number of ranges of a namespace', spec: 'NVM 1.2 §4.1.4.5' },
  {
    NEID: u32(0, 'Namespace Element Identifier: its NSID'),
    NLRD: u32(4, 'Number of LBA Range Descriptors'),
    RATYPE: oneOf(u8(8, 'Recommended Action Type, for Get LBA Status'), { SCAN: 0x10, TRACKED: 0x11 }),
  },
)

/** A range of logical blocks that may be unrecoverable (NVM 1.2 §4.1.4.5, Figure 111). */
export const LbaRangeDescriptor = struct(
  'LBA Range Descriptor',
  { bytes: 16, doc: 'Range of LBAs', spec: 'NVM 1.2 §4.1.4.5' },
  { RSLBA: n64(0, 'Range Starting LBA'), RNLB: count32(8, 'Range Number of Logical Blocks') },
)
