import { describe, expect, it } from 'vitest'
import { sparse } from '../../test/bytes.js'
import { bytesOf, rowsOf, valuesOf } from '../../test/figures.js'
import { LockdownLog } from './log-lockdown.js'

describe('Command and Feature Lockdown (LID 14h, Base 2.1 §5.1.12.1.20)', () => {
  it('has the fields, rows and values of Figure 266', () => {
    expect([LockdownLog.bytes, ...bytesOf(LockdownLog)]).toEqual([
      512,
      ['CFILA', 0, 1],
      ['LNGTH', 3, 1],
      ['CFIL', 4, 508],
    ])
    const { rows } = LockdownLog.fields.CFILA
    expect(rowsOf({ fields: rows })).toEqual([
      ['SS', 3, 0],
      ['CS', 5, 4],
    ])
    expect(valuesOf(rows.SS)).toEqual({ ADMIN_OPCODE: 0, FEATURE: 2, MANAGEMENT_OPCODE: 3, PCIE_OPCODE: 4 })
    expect(valuesOf(rows.CS)).toEqual({ CAN_BE_PROHIBITED: 0, PROHIBITED: 1, PROHIBITED_OUT_OF_BAND: 2 })
  })

  it('decodes a list of two prohibited features', () => {
    const { CFILA, LNGTH, CFIL } = LockdownLog.decode(sparse(512, { 0: '12', 3: '02 05 17' }))
    expect([CFILA, LNGTH, [...CFIL.subarray(0, LNGTH)]]).toEqual([{ SS: 2, CS: 1 }, 2, [0x05, 0x17]])
  })
})
