import { describe, expect, it } from 'vitest'
import { fromHex, toHex, unwritten } from '../../test/bytes.js'
import { describeEntries } from '../../test/entries.js'
import { bytesOf, rowsOf } from '../../test/figures.js'
import { zeroBased } from '../layout/zero-based.js'
import { DatasetManagement, DatasetManagementRange } from './dataset-management.js'

describeEntries([
  [
    DatasetManagement, // NVM 1.2 §3.3.3, Figures 43 to 45
    ...(['nvm', 0x09, 'host-to-controller'] as const),
    { CID: 5, NSID: 1, PRP1: 0x7000, NR: zeroBased(3), AD: 1 },
    `09 00 05 00  01 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 70 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  02 00 00 00  04 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00`,
  ],
  [
    DatasetManagement,
    ...(['nvm', 0x09, 'host-to-controller'] as const),
    { CID: 5, NSID: 1, NR: zeroBased(256), IDR: 1, IDW: 1 },
    `09 00 05 00  01 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  ff 00 00 00  03 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00`,
  ],
])

describe('Dataset Management Range (NVM 1.2 §3.3.3, Figures 46 and 47)', () => {
  it('is of 16 bytes, and has its fields at their bytes', () => {
    expect(DatasetManagementRange.bytes).toBe(16)
    expect(bytesOf(DatasetManagementRange)).toEqual([
      ['CATTR', 0, 4],
      ['LLB', 4, 4],
      ['SLBA', 8, 8],
    ])
    expect(rowsOf({ fields: DatasetManagementRange.fields.CATTR.rows }).map(([symbol]) => symbol)).toEqual([
      'AF',
      'AL',
      'SRR',
      'SWR',
      'WPREP',
      'CASZE',
    ])
  })

  it('is the bytes that libnvme 1.3 nvme_init_dsm_range makes of the same values', () => {
    const hex = '15 04 00 00  09 00 00 00  88 77 66 55 44 33 01 00'
    const range = { CATTR: { AF: 5, AL: 1, WPREP: 1 } as const, LLB: 9, SLBA: 0x1_3344_5566_7788 }
    const data = unwritten(16)
    DatasetManagementRange.encode(data, 0, range)
    expect(toHex(data)).toBe(toHex(fromHex(hex)))
    expect(DatasetManagementRange.decode(data)).toEqual({
      ...range,
      CATTR: { AF: 5, AL: 1, SRR: 0, SWR: 0, WPREP: 1, CASZE: 0 },
    })
  })

  it('stands in a row with others: range 255 starts at byte 4080', () => {
    const data = new DataView(new ArrayBuffer(4096))
    DatasetManagementRange.view(data).at(255).LLB = 0xffff_ffff
    expect(data.getUint32(4084, true)).toBe(0xffff_ffff)
  })
})
