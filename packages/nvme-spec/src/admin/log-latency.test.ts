import { describe, expect, it } from 'vitest'
import { sparse } from '../../test/bytes.js'
import { bytesOf, rowsOf, valuesOf } from '../../test/figures.js'
import { PredictableLatencyEventAggregate, PredictableLatencyLog } from './log-latency.js'

describe('Predictable Latency Per NVM Set (LID 0Ah; libnvme 1.3 nvme_nvmset_predictable_lat_log)', () => {
  it('has its fields at the bytes of the header', () => {
    expect([PredictableLatencyLog.bytes, ...bytesOf(PredictableLatencyLog)]).toEqual([
      512,
      ['STSNVMS', 0, 1],
      ['ETYP', 2, 2],
      ['DTWRT', 32, 8],
      ['DTWWT', 40, 8],
      ['DTWTM', 48, 8],
      ['NTWTMH', 56, 8],
      ['NTWTML', 64, 8],
      ['DTWRE', 128, 8],
      ['DTWWE', 136, 8],
      ['DTWTE', 144, 8],
    ])
    expect(rowsOf({ fields: PredictableLatencyLog.fields.STSNVMS.rows })).toEqual([['PLMW', 2, 0]])
    expect(valuesOf(PredictableLatencyLog.fields.STSNVMS.rows.PLMW)).toEqual({ NOT_USED: 0, DTWIN: 1, NDWIN: 2 })
    expect(rowsOf({ fields: PredictableLatencyLog.fields.ETYP.rows })).toEqual([
      ['DTRW', 0, 0],
      ['DTWW', 1, 1],
      ['DTTW', 2, 2],
      ['MVEAT', 14, 14],
      ['DEAT', 15, 15],
    ])
  })

  it('decodes a page', () => {
    const page = sparse(512, { 0: '01 00 02 80', 32: '40 42 0f', 56: 'e8 03', 144: '01 00 00 00 01' })
    expect(PredictableLatencyLog.decode(page)).toEqual({
      STSNVMS: { PLMW: 1 },
      ETYP: { DTRW: 0, DTWW: 1, DTTW: 0, MVEAT: 0, DEAT: 1 },
      ...{ DTWRT: 1_000_000n, DTWWT: 0n, DTWTM: 0n, NTWTMH: 1000n, NTWTML: 0n, DTWRE: 0n, DTWWE: 0n },
      DTWTE: 4_294_967_297n,
    })
  })
})

describe('Predictable Latency Event Aggregate (LID 0Bh, Base 2.3 §5.2.12.1.12)', () => {
  it('begins with the number of identifiers, which follow at byte 8', () => {
    expect([PredictableLatencyEventAggregate.bytes, ...bytesOf(PredictableLatencyEventAggregate)]).toEqual([
      8,
      ['NUMENT', 0, 8],
    ])
    const list = sparse(14, { 0: '03', 8: '0d 00 11 00 1b 00' })
    expect(PredictableLatencyEventAggregate.decode(list)).toEqual({ NUMENT: 3n })
  })
})
