import { bit, bytes, count, feature, someOf, struct, structs, u64, u8 } from '../../layout/index.js'
import { FID } from '../../admin/features.js'

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
