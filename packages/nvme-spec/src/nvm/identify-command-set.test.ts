import { describe, expect, it } from 'vitest'
import { bytesOf, valuesOf } from '../../test/figures.js'
import { describeRows, wordOf } from '../../test/rows.js'
import { zeroBased } from '../layout/zero-based.js'
import { IdentifyNvmController, IdentifyNvmNamespace } from './identify-command-set.js'

describe('Identify Namespace of the NVM Command Set (CNS 05h, NVM 1.2 §4.1.5.3, Figures 118 and 119)', () => {
  it('has its fields at the bytes of the figure, in 4096', () => {
    expect(IdentifyNvmNamespace.bytes).toBe(4096)
    expect(bytesOf(IdentifyNvmNamespace)).toEqual([
      ['LBSTM', 0, 8],
      ['PIC', 8, 1],
      ['PIFA', 9, 1],
      ['ELBAF', 12, 256],
      ['NPDGL', 268, 4],
      ['NPRG', 272, 4],
      ['NPRA', 276, 4],
      ['NORS', 280, 4],
      ['NPDAL', 284, 4],
      ['LBAPSS', 288, 4],
      ['TLBAAG', 292, 4],
    ])
  })

  describeRows([
    [wordOf(IdentifyNvmNamespace, 'PIC'), { PISTS16B: 0x01n, PISTM16B: 0x02n, STCRS: 0x04n, QPIFS: 0x08n }],
    [wordOf(IdentifyNvmNamespace, 'PIFA'), { STMLA: 0x07n }],
    [wordOf(IdentifyNvmNamespace, 'ELBAF'), { STS: 0x007fn, PIF: 0x0180n, QPIF: 0x1e00n }],
  ])

  it('guards are of 16, 32 or 64 bits; PIF 11b says that QPIF has it', () => {
    const { PIF, QPIF } = IdentifyNvmNamespace.fields.ELBAF.rows
    expect(valuesOf(PIF)).toEqual({ GUARD_16B: 0, GUARD_32B: 1, GUARD_64B: 2, QTYPE: 3 })
    expect(valuesOf(QPIF)).toEqual({ GUARD_16B: 0, GUARD_32B: 1, GUARD_64B: 2 })
    expect(valuesOf(IdentifyNvmNamespace.fields.PIFA.rows.STMLA)).toEqual({ BIT: 0, BYTE: 1, NOT_SUPPORTED: 2 })
  })

  it("the preferred reads are 0's based, the large deallocations are not", () => {
    const ELBAF = [{}, { STS: 48, PIF: 2 }] as const
    const { data } = IdentifyNvmNamespace.create({ NPRG: zeroBased(8), NPDGL: 8, LBSTM: 1n << 63n })
    expect([data.getUint32(272, true), data.getUint32(268, true), data.getUint8(7)]).toEqual([7, 8, 0x80])
    IdentifyNvmNamespace.encode(data, 0, { ELBAF: [...ELBAF, ...Array.from({ length: 62 }, () => ({}))] })
    expect(IdentifyNvmNamespace.describe(data)).toEqual(['ELBAF[1]={ STS=48 PIF=GUARD_64B QPIF=GUARD_16B }'])
    expect(data.getUint32(16, true)).toBe(0x130)
  })
})

describe('Identify Controller of the NVM Command Set (CNS 06h, NVM 1.2 §4.1.5.4, Figures 120 and 121)', () => {
  it('has its fields at the bytes of the figure, in 4096', () => {
    expect(IdentifyNvmController.bytes).toBe(4096)
    expect(bytesOf(IdentifyNvmController)).toEqual([
      ['VSL', 0, 1],
      ['WZSL', 1, 1],
      ['WUSL', 2, 1],
      ['DMRL', 3, 1],
      ['DMRSL', 4, 4],
      ['DMSL', 8, 8],
      ['KPIOCAP', 16, 1],
      ['WZDSL', 17, 1],
      ['AOCS', 18, 2],
      ['VER', 20, 4],
      ['LBAMQF', 24, 1],
    ])
  })

  describeRows([
    [wordOf(IdentifyNvmController, 'KPIOCAP'), { KPIOS: 0x01n, KPIOSC: 0x02n }],
    [wordOf(IdentifyNvmController, 'AOCS'), { RALBAS: 0x0001n }],
    [wordOf(IdentifyNvmController, 'VER'), { TER: 0x0000_00ffn, MNR: 0x0000_ff00n, MJR: 0xffff_0000n }],
  ])

  it('prints a controller of NVM Command Set 1.2 with 256 ranges and its own queue format', () => {
    const { data } = IdentifyNvmController.create({ DMRL: 255, VER: 0x0001_0200, LBAMQF: 0xc0 })
    expect(IdentifyNvmController.describe(data)).toEqual(['DMRL=255', 'VER={ TER=0 MNR=2 MJR=1 }', 'LBAMQF=0xc0'])
    expect(IdentifyNvmController.LBAMQF.TYPE_0).toBe(0)
  })
})
