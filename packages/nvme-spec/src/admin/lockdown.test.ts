import { describe, expect, it } from 'vitest'
import { dwordsOf } from '../../test/figures.js'
import { Lockdown } from './lockdown.js'

describe('Lockdown (Base 2.1 §5.1.15, Figures 337 and 338)', () => {
  it.each([
    ['SCP', 4, [0x0004, 0, 0, 0, 0, 0]],
    ['PRHBT', 1, [0x0010, 0, 0, 0, 0, 0]],
    ['IFC', 2, [0x0040, 0, 0, 0, 0, 0]],
    ['OFI', 0xff, [0xff00, 0, 0, 0, 0, 0]],
    ['UIDX', 0x7f, [0, 0, 0, 0, 0x7f, 0]],
  ])('%s stands where its figure says', (symbol, value, dwords) => {
    expect(dwordsOf(Lockdown, { [symbol]: value })).toEqual(dwords)
  })

  it('SCP 1h and IFC 11b are reserved', () => {
    expect(Lockdown.fields.SCP.values).toEqual({ ADMIN_OPCODE: 0, FEATURE: 2, MANAGEMENT_OPCODE: 3, PCIE_OPCODE: 4 })
    expect(Lockdown.fields.IFC.values).toEqual({ ADMIN_QUEUE: 0, ADMIN_QUEUE_AND_ENDPOINT: 1, ENDPOINT: 2 })
    expect(() => dwordsOf(Lockdown, { IFC: 3 })).toThrow('Lockdown.IFC (Interface)')
  })
})
