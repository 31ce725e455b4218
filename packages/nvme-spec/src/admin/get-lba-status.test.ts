import { describe, expect, it } from 'vitest'
import { fromHex } from '../../test/bytes.js'
import { bytesOf, dwordsOf, rowsOf } from '../../test/figures.js'
import { zeroBased } from '../layout/zero-based.js'
import { GetLbaStatus, LbaStatusDescriptor, LbaStatusDescriptorList } from './get-lba-status.js'

describe('Get LBA Status (NVM 1.2 §4.2.1, Figures 128 to 130)', () => {
  it("SLBA is Command Dwords 10 and 11, MNDW a 0's based count, RL and ATYPE in Command Dword 13", () => {
    const values = { SLBA: 0x1_2345_6789, MNDW: zeroBased(1024), RL: 0xabcd, ATYPE: 0x11 }
    expect(dwordsOf(GetLbaStatus, values)).toEqual([0x2345_6789, 1, 1023, 0x1100_abcd, 0, 0])
  })

  it('ATYPE 02h asks for allocated, 10h for a scan, 11h for tracked blocks', () => {
    expect(GetLbaStatus.fields.ATYPE.values).toEqual({ ALLOCATED: 0x02, SCAN: 0x10, TRACKED: 0x11 })
  })
})

describe('what Get LBA Status returns (NVM 1.2 §4.2.1.2, Figures 131 and 132)', () => {
  it('a LbaStatusDescriptorList of 8 bytes, then entries of 16', () => {
    expect(LbaStatusDescriptorList.bytes).toBe(8)
    expect(bytesOf(LbaStatusDescriptorList)).toEqual([
      ['NLSD', 0, 4],
      ['CMPC', 4, 1],
    ])
    expect(LbaStatusDescriptorList.fields.CMPC.values).toEqual({ NOT_INDICATED: 0, INCOMPLETE: 1, COMPLETE: 2 })
    expect(LbaStatusDescriptor.bytes).toBe(16)
    expect(bytesOf(LbaStatusDescriptor)).toEqual([
      ['DSLBA', 0, 8],
      ['NLB', 8, 4],
      ['STAS', 13, 1],
    ])
    const { rows } = LbaStatusDescriptor.fields.STAS
    expect(rowsOf({ fields: rows })).toEqual([['LBARS', 2, 0]])
    expect(rows.LBARS.values).toEqual({
      ...{ MAY_BE_UNRECOVERABLE: 0, UNRECOVERABLE: 1, ALLOCATED: 2, WRITTEN_UNCORRECTABLE: 3 },
    })
  })

  it('is read entry by entry from byte 8 on', () => {
    const data = fromHex(`02 00 00 00  02 00 00 00
      10 00 00 00 00 00 00 00  07 00 00 00  00 01 00 00
      80 00 00 00 01 00 00 00  00 00 00 00  00 02 00 00`)
    const { NLSD, CMPC } = LbaStatusDescriptorList.view(data)
    expect([NLSD, LbaStatusDescriptorList.CMPC.nameOf(CMPC)]).toEqual([2, 'COMPLETE'])
    const entry = LbaStatusDescriptor.view(data, LbaStatusDescriptorList.bytes)
    expect([entry.at(0).DSLBA, entry.NLB, entry.STAS]).toEqual([0x10, 7, 1])
    expect([entry.at(1).DSLBA, entry.NLB, entry.STAS]).toEqual([0x1_0000_0080, 0, 2])
  })
})
