import { describe, expect, it } from 'vitest'
import { dwordsOf } from '../../test/figures.js'
import { Sanitize } from './sanitize.js'

describe('Sanitize (Base 2.1 §5.1.22, Figures 372 and 373)', () => {
  it.each([
    ['SANACT', 4, 0x004],
    ['AUSE', 1, 0x008],
    ['OWPASS', 0xf, 0x0f0],
    ['OIPBP', 1, 0x100],
    ['NDAS', 1, 0x200],
    ['EMVS', 1, 0x400],
  ])('%s stands in its bits of Command Dword 10', (symbol, value, dword) => {
    expect(dwordsOf(Sanitize, { [symbol]: value })).toEqual([dword, 0, 0, 0, 0, 0])
  })

  it('OVRPAT is Command Dword 11', () => {
    expect(dwordsOf(Sanitize, { OVRPAT: 0xdead_beef })).toEqual([0, 0xdead_beef, 0, 0, 0, 0])
  })

  it('SANACT 001b to 101b are its actions, 000b is reserved', () => {
    expect(Sanitize.fields.SANACT.values).toEqual({
      ...{ EXIT_FAILURE_MODE: 1, BLOCK_ERASE: 2, OVERWRITE: 3, CRYPTO_ERASE: 4, EXIT_MEDIA_VERIFICATION: 5 },
    })
    expect(() => dwordsOf(Sanitize, { SANACT: 6 })).toThrow('Sanitize.SANACT (Sanitize Action)')
  })
})
