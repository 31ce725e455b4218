import { describe, expect, it } from 'vitest'
import { rowsOf } from '../../../test/figures.js'
import { zeroBased } from '../../layout/zero-based.js'
import { Arbitration } from './arbitration.js'

describe('Arbitration (Base 2.1 §5.1.25.1.1, Figure 386)', () => {
  it("AB is a power of two, the weights are 0's based", () => {
    const values = { AB: 7, LPW: zeroBased(1), MPW: zeroBased(16), HPW: zeroBased(256) }
    expect(Arbitration.CDW11.encode(values)).toBe(0xff0f_0007)
    expect(rowsOf(Arbitration.CDW11)).toEqual([
      ['AB', 2, 0],
      ['LPW', 15, 8],
      ['MPW', 23, 16],
      ['HPW', 31, 24],
    ])
  })

  it('Get Features returns the same rows in Dword 0', () => {
    expect(Arbitration.DW0.decode(0xff0f_0007)).toEqual({ AB: 7, LPW: 0, MPW: 15, HPW: 255 })
  })
})
