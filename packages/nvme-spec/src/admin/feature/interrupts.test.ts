import { describe, expect, it } from 'vitest'
import { rowsOf } from '../../../test/figures.js'
import { zeroBased } from '../../layout/zero-based.js'
import { InterruptCoalescing, InterruptVectorConfiguration } from './interrupts.js'

describe('features of interrupts', () => {
  it("Interrupt Coalescing: a 0's based THR below TIME (Base 2.1 Figure 445; libnvme 1.3 NVME_FEAT_IRQC_*)", () => {
    expect(InterruptCoalescing.CDW11.encode({ THR: zeroBased(8), TIME: 0x12 })).toBe(0x1207)
    expect(rowsOf(InterruptCoalescing.CDW11)).toEqual([
      ['THR', 7, 0],
      ['TIME', 15, 8],
    ])
  })

  it('Interrupt Vector Configuration: CD above IV (Base 2.1 §5.1.25.2.3, Figure 446)', () => {
    expect(rowsOf(InterruptVectorConfiguration.CDW11)).toEqual([
      ['IV', 15, 0],
      ['CD', 16, 16],
    ])
  })
})
