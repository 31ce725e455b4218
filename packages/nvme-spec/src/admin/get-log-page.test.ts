import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { dwordsOf } from '../../test/figures.js'
import { GetLogPage, logPagePart } from './get-log-page.js'

describe('Get Log Page (Base 2.1 §5.1.12, Figures 197 to 201)', () => {
  it.each([
    ['LID', 0xff, [0x0000_00ff, 0, 0, 0, 0, 0]],
    ['LSP', 0x7f, [0x0000_7f00, 0, 0, 0, 0, 0]],
    ['RAE', 1, [0x0000_8000, 0, 0, 0, 0, 0]],
    ['NUMDL', 0xffff, [0xffff_0000, 0, 0, 0, 0, 0]],
    ['NUMDU', 0xffff, [0, 0x0000_ffff, 0, 0, 0, 0]],
    ['LSI', 0xffff, [0, 0xffff_0000, 0, 0, 0, 0]],
    ['LPOL', 0xffff_ffff, [0, 0, 0xffff_ffff, 0, 0, 0]],
    ['LPOU', 0xffff_ffff, [0, 0, 0, 0xffff_ffff, 0, 0]],
    ['UIDX', 0x7f, [0, 0, 0, 0, 0x0000_007f, 0]],
    ['OT', 1, [0, 0, 0, 0, 0x0080_0000, 0]],
    ['CSI', 0xff, [0, 0, 0, 0, 0xff00_0000, 0]],
  ])('%s stands where its figure says', (symbol, value, dwords) => {
    expect(dwordsOf(GetLogPage, { [symbol]: value })).toEqual(dwords)
  })
})

describe('logPagePart', () => {
  it("splits a 0's based count of dwords over NUMDU and NUMDL, and an offset over LPOU and LPOL", () => {
    expect(logPagePart(128)).toEqual({ NUMDL: 127, NUMDU: 0, LPOL: 0, LPOU: 0, OT: 0 })
    expect(logPagePart(0x1_2346, 0x5_0000_0008)).toEqual({ NUMDL: 0x2345, NUMDU: 1, LPOL: 8, LPOU: 5, OT: 0 })
    expect(logPagePart(2 ** 32, 0xffff_ffff_ffff_fffcn)).toEqual({
      ...{ NUMDL: 0xffff, NUMDU: 0xffff, LPOL: 0xffff_fffc, LPOU: 0xffff_ffff, OT: 0 },
    })
  })

  it('takes an index of any value, and says so in OT', () => {
    expect(logPagePart(1, 3, 'index')).toEqual({ NUMDL: 0, NUMDU: 0, LPOL: 3, LPOU: 0, OT: 1 })
  })

  it.each([
    [0, 0, 'Get Log Page.NUMD (Number of Dwords): expected an integer from 1 to 4294967296, got 0'],
    [2 ** 32 + 1, 0, 'Get Log Page.NUMD'],
    [1.5, 0, 'Get Log Page.NUMD'],
    [Number.NaN, 0, 'Get Log Page.NUMD'],
    [1, -4, 'Get Log Page.LPO (Log Page Offset): expected a safe integer or a bigint from 0 to 2^64 - 1, got -4'],
    [1, 0.5, 'Get Log Page.LPO'],
    [1, 2 ** 60, 'Get Log Page.LPO'],
    [1, 1n << 64n, 'Get Log Page.LPO'],
    [1, -1n, 'Get Log Page.LPO'],
    [1, 6, 'Get Log Page.LPO (Log Page Offset): expected a multiple of 4 bytes, got 6 (Base 2.1 §5.1.12)'],
  ])('refuses %s dwords at %s, which the fields cannot hold', (dwords, offset, message) => {
    expect(() => logPagePart(dwords, offset)).toThrow(RangeError)
    expect(() => logPagePart(dwords, offset)).toThrow(message)
  })

  it('refuses what is no number with a TypeError', () => {
    expect(() => logPagePart('1' as never)).toThrow(TypeError)
    expect(() => logPagePart(1, '0' as never)).toThrow(TypeError)
  })

  it('loses no bit of any count and offset', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 32 }), fc.bigInt(0n, (1n << 64n) - 1n), (dwords, index) => {
        const { NUMDL, NUMDU, LPOL, LPOU } = logPagePart(dwords, index, 'index')
        expect(NUMDU * 65_536 + NUMDL + 1).toBe(dwords)
        expect((BigInt(LPOU) << 32n) + BigInt(LPOL)).toBe(index)
        expect(() => dwordsOf(GetLogPage, { NUMDL, NUMDU, LPOL, LPOU })).not.toThrow()
      }),
    )
  })
})
