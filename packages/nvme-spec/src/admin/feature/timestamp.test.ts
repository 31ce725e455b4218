import { describe, expect, it } from 'vitest'
import { fromHex } from '../../../test/bytes.js'
import { bytesOf, rowsOf } from '../../../test/figures.js'
import { Timestamp, TimestampData } from './timestamp.js'

describe('Timestamp (Base 2.1 §5.1.25.1.7, Figures 395 and 396)', () => {
  it('TimestampData is 8 bytes: milliseconds in the first six, attributes in the seventh', () => {
    expect(Timestamp.data).toBe(TimestampData)
    expect(TimestampData.bytes).toBe(8)
    expect(bytesOf(TimestampData)).toEqual([
      ['TSTMP', 0, 6],
      ['TSTMPS', 6, 1],
    ])
    const { rows } = TimestampData.fields.TSTMPS
    expect(rowsOf({ fields: rows })).toEqual([
      ['SYNC', 0, 0],
      ['TSTMPO', 3, 1],
    ])
    expect(rows.TSTMPO.values).toEqual({ RESET: 0, SET_FEATURES: 1 })
  })

  it('holds times beyond 32 bits', () => {
    // 2024-08-05T00:00:00Z is 1,722,816,000,000 milliseconds, 0191 1FD5 F000h.
    const { TSTMP, TSTMPS } = TimestampData.view(fromHex('00 f0 d5 1f 91 01 03 00'))
    expect([TSTMP, TSTMPS]).toEqual([Date.UTC(2024, 7, 5), 3])
  })
})
