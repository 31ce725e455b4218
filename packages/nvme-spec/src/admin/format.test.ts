import { describe, expect, it } from 'vitest'
import { dwordsOf } from '../../test/figures.js'
import { FormatNvm } from './format.js'

describe('Format NVM (Base 2.1 §5.1.10, Figure 189; NVM 1.2 §4.1.2, Figure 90)', () => {
  it.each([
    ['LBAFL', 0xf, 0x000f],
    ['MSET', 1, 0x0010],
    ['PI', 3, 0x0060],
    ['PIL', 1, 0x0100],
    ['SES', 2, 0x0400],
    ['LBAFU', 3, 0x3000],
  ])('%s stands in its bits of Command Dword 10', (symbol, value, dword) => {
    expect(dwordsOf(FormatNvm, { [symbol]: value })).toEqual([dword, 0, 0, 0, 0, 0])
  })

  it('SES 000b is no secure erase, 001b User Data Erase, 010b Cryptographic Erase; PI 000b to 011b are types', () => {
    expect(FormatNvm.fields.SES.values).toEqual({ NONE: 0, USER_DATA_ERASE: 1, CRYPTOGRAPHIC_ERASE: 2 })
    expect(FormatNvm.fields.PI.values).toEqual({ DISABLED: 0, TYPE_1: 1, TYPE_2: 2, TYPE_3: 3 })
  })

  it('refuses reserved values, which a controller might take for another erase', () => {
    expect(() => dwordsOf(FormatNvm, { SES: 3 })).toThrow(
      'Format NVM.SES (Secure Erase Settings): expected 0 (NONE), 1 (USER_DATA_ERASE), 2 (CRYPTOGRAPHIC_ERASE), got 3',
    )
  })
})
