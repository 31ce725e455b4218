import { describe, expect, it } from 'vitest'
import { fromHex, sparse } from '../../test/bytes.js'
import { bytesOf, rowsOf, valuesOf } from '../../test/figures.js'
import { SelfTestLog, SelfTestResult } from './log-self-test.js'

// An extended test failed in segment 4 at LBA 10h of namespace 1, an Unrecovered Read Error (2h/81h).
const failed = '27 04 0f 00  e8 03 00 00 00 00 00 00  01 00 00 00  10 00 00 00 00 00 00 00  02 81 34 12'

describe('Self-test Result (Base 2.3 §5.2.12.1.7; libnvme 1.3 nvme_st_result)', () => {
  it('has its fields at the bytes of Figure 216', () => {
    expect([SelfTestResult.bytes, ...bytesOf(SelfTestResult)]).toEqual([
      28,
      ['DSTS', 0, 1],
      ['SEGN', 1, 1],
      ['VDINFO', 2, 1],
      ['POH', 4, 8],
      ['NSID', 12, 4],
      ['FLBA', 16, 8],
      ['STCT', 24, 1],
      ['STC', 25, 1],
      ['VS', 26, 2],
    ])
  })

  it('has the rows and values of Figure 216', () => {
    const { DSTS, VDINFO, STCT } = SelfTestResult.fields
    expect(rowsOf({ fields: DSTS.rows })).toEqual([
      ['DSTR', 3, 0],
      ['DSTC', 7, 4],
    ])
    expect(valuesOf(DSTS.rows.DSTR)).toEqual({
      ...{ COMPLETED: 0, ABORTED_BY_COMMAND: 1, ABORTED_BY_RESET: 2, ABORTED_BY_NAMESPACE_REMOVAL: 3 },
      ...{ ABORTED_BY_FORMAT: 4, FATAL_ERROR: 5, UNKNOWN_SEGMENT_FAILED: 6, SEGMENT_FAILED: 7 },
      ...{ ABORTED_UNKNOWN: 8, ABORTED_BY_SANITIZE: 9, EMPTY: 15 },
    })
    expect(valuesOf(DSTS.rows.DSTC)).toEqual({
      ...{ EMPTY: 0, SHORT: 1, EXTENDED: 2, HOST_INITIATED_REFRESH: 3, VENDOR_SPECIFIC: 14 },
    })
    expect(rowsOf({ fields: VDINFO.rows })).toEqual([
      ['NSIDVLD', 0, 0],
      ['FVLD', 1, 1],
      ['SCTVLD', 2, 2],
      ['SCVLD', 3, 3],
    ])
    expect(rowsOf({ fields: STCT.rows })).toEqual([['ASTCI', 2, 0]])
  })

  it('decodes and prints a test that failed', () => {
    expect(SelfTestResult.decode(fromHex(failed))).toEqual({
      DSTS: { DSTR: 7, DSTC: 2 },
      SEGN: 4,
      VDINFO: { NSIDVLD: 1, FVLD: 1, SCTVLD: 1, SCVLD: 1 },
      ...{ POH: 1000n, NSID: 1, FLBA: 16n, STCT: { ASTCI: 2 }, STC: 0x81, VS: 0x1234 },
    })
    expect(SelfTestResult.describe(fromHex(failed))).toEqual([
      'DSTS={ DSTR=SEGMENT_FAILED DSTC=EXTENDED }',
      'SEGN=4',
      'VDINFO={ NSIDVLD=1 FVLD=1 SCTVLD=1 SCVLD=1 }',
      'POH=1000',
      'NSID=1',
      'FLBA=16',
      'STCT={ ASTCI=2 }',
      'STC=0x81',
      'VS=0x1234',
    ])
  })
})

describe('Device Self-test (LID 06h, Base 2.3 §5.2.12.1.7)', () => {
  it('is the current test and twenty results', () => {
    expect([SelfTestLog.bytes, ...bytesOf(SelfTestLog)]).toEqual([
      564,
      ['CDSTO', 0, 1],
      ['CDSTC', 1, 1],
      ['RDS', 4, 560],
    ])
    expect(rowsOf({ fields: SelfTestLog.fields.CDSTO.rows })).toEqual([['DSTOS', 3, 0]])
    expect(rowsOf({ fields: SelfTestLog.fields.CDSTC.rows })).toEqual([['DSTCS', 6, 0]])
    expect(valuesOf(SelfTestLog.fields.CDSTO.rows.DSTOS)).toEqual({
      ...{ NONE: 0, SHORT: 1, EXTENDED: 2, HOST_INITIATED_REFRESH: 3, VENDOR_SPECIFIC: 14 },
    })
  })

  it('the newest result begins at byte 4, the twentieth at byte 536', () => {
    const page = sparse(564, { 0: '01 19', 4: failed, 536: '0f' })
    const { CDSTO, CDSTC, RDS } = SelfTestLog.decode(page)
    expect([CDSTO, CDSTC, RDS.length]).toEqual([{ DSTOS: 1 }, { DSTCS: 25 }, 20])
    expect([RDS[0]?.SEGN, RDS[1]?.SEGN, RDS[19]?.DSTS]).toEqual([4, 0, { DSTR: 15, DSTC: 0 }])
    expect(SelfTestLog.view(page).RDS.at(19).DSTS).toBe(0x0f)
  })
})
