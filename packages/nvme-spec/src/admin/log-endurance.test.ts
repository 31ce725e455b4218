import { describe, expect, it } from 'vitest'
import { sparse } from '../../test/bytes.js'
import { bytesOf, rowsOf } from '../../test/figures.js'
import { EnduranceGroupEventAggregate, EnduranceGroupLog, RotationalMediaLog } from './log-endurance.js'

describe('Endurance Group Information (LID 09h, Base 2.3 §5.2.12.1.10; libnvme 1.3 nvme_endurance_group_log)', () => {
  it('has its fields at the bytes of Figure 222', () => {
    expect([EnduranceGroupLog.bytes, ...bytesOf(EnduranceGroupLog)]).toEqual([
      512,
      ['EGCW', 0, 1],
      ['EGFEAT', 1, 1],
      ['AVSP', 3, 1],
      ['AVSPT', 4, 1],
      ['PUSED', 5, 1],
      ['DID', 6, 2],
      ['EE', 32, 16],
      ['DUR', 48, 16],
      ['DUW', 64, 16],
      ['MUW', 80, 16],
      ['HRC', 96, 16],
      ['HWC', 112, 16],
      ['MDIE', 128, 16],
      ['NEILE', 144, 16],
      ['TEGCAP', 160, 16],
      ['UEGCAP', 176, 16],
    ])
    expect(rowsOf({ fields: EnduranceGroupLog.fields.EGCW.rows })).toEqual([
      ['EGASB', 0, 0],
      ['EGDR', 2, 2],
      ['EGRO', 3, 3],
    ])
    expect(rowsOf({ fields: EnduranceGroupLog.fields.EGFEAT.rows })).toEqual([['EGRMEDIA', 0, 0]])
  })

  it('decodes a page', () => {
    const page = sparse(512, {
      ...{ 0: '05 01', 3: '5a 0a 03 02 00', 32: 'f4 01', 64: '01 00 00 00 00 00 00 00 01', 80: '07' },
      ...{ 160: '00 00 00 00 00 01', 191: '80' },
    })
    expect(EnduranceGroupLog.decode(page)).toEqual({
      EGCW: { EGASB: 1, EGDR: 1, EGRO: 0 },
      EGFEAT: { EGRMEDIA: 1 },
      ...{ AVSP: 90, AVSPT: 10, PUSED: 3, DID: 2, EE: 500n, DUR: 0n, DUW: 18_446_744_073_709_551_617n, MUW: 7n },
      ...{ HRC: 0n, HWC: 0n, MDIE: 0n, NEILE: 0n, TEGCAP: 1_099_511_627_776n },
      UEGCAP: 170_141_183_460_469_231_731_687_303_715_884_105_728n,
    })
  })
})

describe('Endurance Group Event Aggregate (LID 0Fh, Base 2.1 §5.1.12.1.15)', () => {
  it('begins with the number of identifiers, which follow at byte 8', () => {
    expect([EnduranceGroupEventAggregate.bytes, ...bytesOf(EnduranceGroupEventAggregate)]).toEqual([
      8,
      ['NUMENT', 0, 8],
    ])
    expect(EnduranceGroupEventAggregate.decode(sparse(14, { 0: '03', 8: '01 00 02 00 07 00' }))).toEqual({ NUMENT: 3n })
  })
})

describe('Rotational Media Information (LID 16h, Base 2.3 §5.2.12.1.22)', () => {
  it('has its fields at the bytes of Figure 274', () => {
    expect([RotationalMediaLog.bytes, ...bytesOf(RotationalMediaLog)]).toEqual([
      512,
      ['ENDGID', 0, 2],
      ['NUMA', 2, 2],
      ['NRS', 4, 2],
      ['SPINC', 8, 4],
      ['FSPINC', 12, 4],
      ['LDC', 16, 4],
      ['FLDC', 20, 4],
    ])
  })

  it('decodes a page: two actuators at 7,200 revolutions a minute', () => {
    const page = sparse(512, { 0: '01 00 02 00 20 1c 00 00 0a 00 00 00 01', 16: '14', 20: 'ff ff ff ff' })
    expect(RotationalMediaLog.decode(page)).toEqual({
      ...{ ENDGID: 1, NUMA: 2, NRS: 7200, SPINC: 10, FSPINC: 1, LDC: 20, FLDC: 4_294_967_295 },
    })
  })
})
