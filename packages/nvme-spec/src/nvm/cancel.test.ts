import { describe, expect, it } from 'vitest'
import { describeEntries } from '../../test/entries.js'
import { rowsOf, valuesOf } from '../../test/figures.js'
import { Cancel, CancelDw0 } from './cancel.js'

describeEntries([
  [
    Cancel, // Base 2.2 §7.1, Figures 557 and 558
    ...(['nvm', 0x18, 'none'] as const),
    { CID: 9, NSID: 0xffff_ffff, SQID: 0x0102, ABORTED_CID: 0xffff, ACODE: 1 },
    `18 00 09 00  ff ff ff ff  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  02 01 ff ff  01 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00`,
  ],
])

describe('Cancel (Base 2.2 §7.1)', () => {
  it('cancels a single command with 00b, multiple commands with 01b', () => {
    expect(valuesOf(Cancel.ACODE)).toEqual({ SINGLE: 0, MULTIPLE: 1 })
  })

  it('completes with the number of commands in Dword 0 (Figure 560)', () => {
    expect(rowsOf(CancelDw0)).toEqual([
      ['CMDA', 15, 0],
      ['CEDA', 31, 16],
    ])
    expect(CancelDw0.decode(0xffff_0002)).toEqual({ CMDA: 2, CEDA: 0xffff })
  })
})
