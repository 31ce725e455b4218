import { describe, expect, it } from 'vitest'
import { formatRegisterAt, registerAt, registerNameAt } from './register-at.js'

describe('a register by its place in BAR0 (Base 2.1 §3.1.4)', () => {
  it.each([
    [0x00, 'CAP'],
    [0x04, 'CAP upper half'],
    [0x14, 'CC'],
    [0x1c, 'CSTS'],
    [0x28, 'ASQ'],
    [0x2c, 'ASQ upper half'],
    [0x34, 'ACQ upper half'],
    // Reserved between CC and CSTS, vendor specific, and beyond what is declared.
    [0x18, '0x18'],
    [0xf00, '0xf00'],
    [0x1000, '0x1000'],
  ])('%i is called %s', (offset, name) => {
    expect(registerNameAt(offset)).toBe(name)
  })

  it('a byte inside belongs to its register', () => {
    expect(registerAt(0x07)?.name).toBe('CAP')
    expect(registerAt(0x08)?.name).toBe('VS')
    expect(registerAt(0x18)).toBeUndefined()
  })

  it.each([
    [0x1c, 0x9, 'CSTS=0x00000009 { RDY=1 CFS=0 SHST=COMPLETE NSSRO=0 PP=0 ST=0 }'],
    [0x28, 0x1_2345_6000n, 'ASQ=0x0000000123456000 { ASQB=0x123456 }'],
    // Half of a register, half of two of them, and none.
    [0x28, 0x2345_6000, '0x23456000'],
    [0x14, 0x46_0001n, '0x460001'],
    [0x18, 7, '0x7'],
  ])('at %i, %s reads %s', (offset, value, text) => {
    expect(formatRegisterAt(offset, value)).toBe(text)
  })
})
