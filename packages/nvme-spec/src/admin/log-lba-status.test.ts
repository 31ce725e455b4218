import { describe, expect, it } from 'vitest'
import { fromHex } from '../../test/bytes.js'
import { bytesOf, valuesOf } from '../../test/figures.js'
import { countOf } from '../layout/zero-based.js'
import { LbaRangeDescriptor, LbaStatusLogHeader, LbaStatusNamespaceElement } from './log-lba-status.js'

// One namespace, 1, of which LBAs 10 to 1009 and 15,000 to 30,009 should be looked at (the ranges of NVM 1.2 §5.2.1).
const log = fromHex(`
  40 00 00 00 01 00 00 00  ff ff ff ff 00 00 03 00
  01 00 00 00 02 00 00 00  11 00 00 00 00 00 00 00
  0a 00 00 00 00 00 00 00  e7 03 00 00 00 00 00 00
  98 3a 00 00 00 00 00 00  a1 3a 00 00 00 00 00 00
`)

describe('LBA Status Information (LID 0Eh, NVM 1.2 §4.1.4.5)', () => {
  it('header, element and range have their fields at the bytes of Figures 109 to 111', () => {
    expect([LbaStatusLogHeader.bytes, ...bytesOf(LbaStatusLogHeader)]).toEqual([
      16,
      ['LSLPLEN', 0, 4],
      ['NLSLNE', 4, 4],
      ['ESTULB', 8, 4],
      ['LSGC', 14, 2],
    ])
    expect([LbaStatusNamespaceElement.bytes, ...bytesOf(LbaStatusNamespaceElement)]).toEqual([
      16,
      ['NEID', 0, 4],
      ['NLRD', 4, 4],
      ['RATYPE', 8, 1],
    ])
    expect(valuesOf(LbaStatusNamespaceElement.fields.RATYPE)).toEqual({ SCAN: 0x10, TRACKED: 0x11 })
    expect([LbaRangeDescriptor.bytes, ...bytesOf(LbaRangeDescriptor)]).toEqual([16, ['RSLBA', 0, 8], ['RNLB', 8, 4]])
  })

  it('decodes a log of one namespace and two ranges', () => {
    expect(LbaStatusLogHeader.decode(log)).toEqual({ LSLPLEN: 64, NLSLNE: 1, ESTULB: 0xffff_ffff, LSGC: 3 })
    expect(LbaStatusNamespaceElement.decode(log, 16)).toEqual({ NEID: 1, NLRD: 2, RATYPE: 0x11 })
    expect(LbaRangeDescriptor.decode(log, 32)).toEqual({ RSLBA: 10, RNLB: 999 })
    const ranges = LbaRangeDescriptor.view(log, 32)
    expect([ranges.at(1).RSLBA, countOf(ranges.RNLB)]).toEqual([15_000, 15_010])
  })
})
