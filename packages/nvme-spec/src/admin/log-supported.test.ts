import { describe, expect, it } from 'vitest'
import { sparse } from '../../test/bytes.js'
import { bytesOf, rowsOf } from '../../test/figures.js'
import { LogPageSupport, SupportedLogPages } from './log-supported.js'

describe('Supported Log Pages (LID 00h, Base 2.1 §5.1.12.1.1)', () => {
  it('is 256 words of the rows of Figure 204', () => {
    expect([SupportedLogPages.bytes, ...bytesOf(SupportedLogPages)]).toEqual([1024, ['LIDS', 0, 1024]])
    const figure204 = [
      ['LSUPP', 0, 0],
      ['IOS', 1, 1],
      ['LIDSP', 31, 16],
    ]
    expect(rowsOf(LogPageSupport)).toEqual(figure204)
    expect(rowsOf({ fields: SupportedLogPages.fields.LIDS.rows })).toEqual(figure204)
  })

  it('the word of a log page stands at four times its identifier', () => {
    const page = sparse(1024, { 8: '01 00 00 00', 48: '03 00 01 00' })
    const { LIDS } = SupportedLogPages.decode(page)
    expect([LIDS[0x02], LIDS[0x0c], LIDS[0x0d]]).toEqual([
      { LSUPP: 1, IOS: 0, LIDSP: 0 },
      { LSUPP: 1, IOS: 1, LIDSP: 1 },
      { LSUPP: 0, IOS: 0, LIDSP: 0 },
    ])
    expect(SupportedLogPages.describe(page)).toEqual([
      'LIDS[2]={ LSUPP=1 IOS=0 LIDSP=0 }',
      'LIDS[12]={ LSUPP=1 IOS=1 LIDSP=1 }',
    ])
  })
})
