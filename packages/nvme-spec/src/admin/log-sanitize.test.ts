import { describe, expect, it } from 'vitest'
import { sparse } from '../../test/bytes.js'
import { bytesOf, rowsOf, valuesOf } from '../../test/figures.js'
import { SanitizeStatusLog } from './log-sanitize.js'

// An Overwrite, after its second pass and half of the way.
const page = sparse(512, {
  ...{ 0: '00 80 12 00 23 05 00 00 10 0e 00 00 3c 00 00 00 ff ff ff ff', 20: '01', 24: '02', 28: '03' },
  ...{ 32: '04 00 00 00 21' },
})

describe('Sanitize Status (LID 81h, Base 2.1 §5.1.12.1.33)', () => {
  it('has its fields at the bytes of Figure 291', () => {
    expect([SanitizeStatusLog.bytes, ...bytesOf(SanitizeStatusLog)]).toEqual([
      512,
      ['SPROG', 0, 2],
      ['SSTAT', 2, 2],
      ['SCDW10', 4, 4],
      ['ETO', 8, 4],
      ['ETBE', 12, 4],
      ['ETCE', 16, 4],
      ['ETODMM', 20, 4],
      ['ETBENMM', 24, 4],
      ['ETCENMM', 28, 4],
      ['ETPVDS', 32, 4],
      ['SSI', 36, 1],
    ])
  })

  it('has the rows and values of Figure 291', () => {
    const { SSTAT, SSI } = SanitizeStatusLog.fields
    expect(rowsOf({ fields: SSTAT.rows })).toEqual([
      ['SOS', 2, 0],
      ['OPC', 7, 3],
      ['GDE', 8, 8],
      ['MVCNCLD', 9, 9],
    ])
    expect(valuesOf(SSTAT.rows.SOS)).toEqual({
      ...{ NEVER_STARTED: 0, SANITIZED: 1, SANITIZING: 2, FAILED: 3, SANITIZED_UNEXPECTED_DEALLOCATE: 4 },
    })
    expect(rowsOf({ fields: SSI.rows })).toEqual([
      ['SANS', 3, 0],
      ['FAILS', 7, 4],
    ])
    const states = {
      ...{ IDLE: 0, RESTRICTED_PROCESSING: 1, RESTRICTED_FAILURE: 2, UNRESTRICTED_PROCESSING: 3 },
      ...{ UNRESTRICTED_FAILURE: 4, MEDIA_VERIFICATION: 5, POST_VERIFICATION_DEALLOCATION: 6 },
    }
    expect([valuesOf(SSI.rows.SANS), valuesOf(SSI.rows.FAILS)]).toEqual([states, states])
  })

  it('decodes and prints a page', () => {
    expect(SanitizeStatusLog.decode(page)).toEqual({
      SPROG: 32_768,
      SSTAT: { SOS: 2, OPC: 2, GDE: 0, MVCNCLD: 0 },
      ...{ SCDW10: 0x523, ETO: 3600, ETBE: 60, ETCE: 0xffff_ffff, ETODMM: 1, ETBENMM: 2, ETCENMM: 3, ETPVDS: 4 },
      SSI: { SANS: 1, FAILS: 2 },
    })
    expect(SanitizeStatusLog.describe(page)).toEqual([
      'SPROG=32768',
      'SSTAT={ SOS=SANITIZING OPC=2 GDE=0 MVCNCLD=0 }',
      'SCDW10=0x00000523',
      'ETO=3600',
      'ETBE=60',
      'ETCE=4294967295',
      'ETODMM=1',
      'ETBENMM=2',
      'ETCENMM=3',
      'ETPVDS=4',
      'SSI={ SANS=RESTRICTED_PROCESSING FAILS=RESTRICTED_FAILURE }',
    ])
  })
})
