import { describe, expect, it } from 'vitest'
import { bytesOf, rowsOf } from '../../../test/figures.js'
import { zeroBased } from '../../layout/zero-based.js'
import { LbaRange, LbaRanges, LbaRangeType } from './lba-range-type.js'

describe('LBA Range Type (NVM 1.2 §4.1.3.1, Figures 93 to 95)', () => {
  it("NUM is a 0's based count in bits 05:00, of Command Dword 11 and of Dword 0", () => {
    expect(LbaRangeType.CDW11.encode({ NUM: zeroBased(64) })).toBe(63)
    expect(rowsOf(LbaRangeType.DW0)).toEqual([['NUM', 5, 0]])
  })

  it('LbaRange is 64 bytes; LbaRanges has room for 64 of them in 4096', () => {
    expect(LbaRange.bytes).toBe(64)
    expect(bytesOf(LbaRange)).toEqual([
      ['TYPE', 0, 1],
      ['ATTRB', 1, 1],
      ['SLBA', 16, 8],
      ['NLB', 24, 8],
      ['GUID', 32, 16],
    ])
    expect(rowsOf({ fields: LbaRange.fields.ATTRB.rows })).toEqual([
      ['LBARO', 0, 0],
      ['HLBAR', 1, 1],
    ])
    expect(LbaRange.fields.TYPE.values).toEqual({
      ...{ GENERAL_PURPOSE: 0, FILESYSTEM: 1, RAID: 2, CACHE: 3, PAGE_OR_SWAP_FILE: 4 },
    })
    expect(LbaRanges.bytes).toBe(4096)
    expect(LbaRangeType.data).toBe(LbaRanges)
    const ranges = LbaRanges.create()
    ranges.RANGE.at(63).TYPE = 0x80
    expect(ranges.data.getUint8(63 * 64)).toBe(0x80)
  })
})
