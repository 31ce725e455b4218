import { describe, expect, it } from 'vitest'
import { fromHex } from '../../test/bytes.js'
import { bytesOf, rowsOf } from '../../test/figures.js'
import { ANA_STATE, AnaGroupDescriptor, AnaLogHeader } from './log-ana.js'

// One group, 5, with namespaces 1 and 2, of which it is persistently lost.
const log = fromHex(`
  02 00 00 00 00 00 00 00  01 00 00 00 00 00 00 00
  05 00 00 00 02 00 00 00  09 00 00 00 00 00 00 00
  04 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
  01 00 00 00 02 00 00 00
`)

describe('Asymmetric Namespace Access (LID 0Ch, Base 2.1 §5.1.12.1.13; libnvme 1.3 nvme_ana_log)', () => {
  it('the header and a descriptor have their fields at these bytes', () => {
    expect([AnaLogHeader.bytes, ...bytesOf(AnaLogHeader)]).toEqual([16, ['CHGC', 0, 8], ['NAGD', 8, 2]])
    expect([AnaGroupDescriptor.bytes, ...bytesOf(AnaGroupDescriptor)]).toEqual([
      32,
      ['AGID', 0, 4],
      ['NNV', 4, 4],
      ['CHGC', 8, 8],
      ['ANASA', 16, 1],
    ])
    expect(rowsOf({ fields: AnaGroupDescriptor.fields.ANASA.rows })).toEqual([['ANAS', 3, 0]])
  })

  it('ANA_STATE has the values of Figure 224', () => {
    expect(ANA_STATE.values).toEqual({
      ...{ OPTIMIZED: 1, NON_OPTIMIZED: 2, INACCESSIBLE: 3, PERSISTENT_LOSS: 4, CHANGE: 15 },
    })
  })

  it('decodes a log of one group', () => {
    expect(AnaLogHeader.decode(log)).toEqual({ CHGC: 2n, NAGD: 1 })
    expect(AnaGroupDescriptor.decode(log, 16)).toEqual({ AGID: 5, NNV: 2, CHGC: 9n, ANASA: { ANAS: 4 } })
    expect(AnaGroupDescriptor.describe(log, 16)).toContain('ANASA={ ANAS=PERSISTENT_LOSS }')
    expect([log.getUint32(16 + AnaGroupDescriptor.bytes, true), log.byteLength]).toEqual([1, 56])
  })
})
