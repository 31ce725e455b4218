import { describe, expect, it } from 'vitest'
import { zeroBased } from '../layout/rows.js'
import {
  IdentifyNamespace,
  IdentifyNvmController,
  IdentifyNvmNamespace,
  lbaFormatIndex,
  NamespaceGranularity,
  NamespaceGranularityList,
} from './identify.js'
import { toHex } from '../../test/bytes.js'
import { bytesOf, valuesOf } from '../../test/figures.js'
import { describeRows, wordOf } from '../../test/rows.js'

describe('identify namespace', () => {
  // NVM 1.2 §4.1.5.1, Figure 114: symbol, first byte, length.
  const figure114 = [
    ['NSZE', 0, 8],
    ['NCAP', 8, 8],
    ['NUSE', 16, 8],
    ['NSFEAT', 24, 1],
    ['NLBAF', 25, 1],
    ['FLBAS', 26, 1],
    ['MC', 27, 1],
    ['DPC', 28, 1],
    ['DPS', 29, 1],
    ['NMIC', 30, 1],
    ['RESCAP', 31, 1],
    ['FPI', 32, 1],
    ['DLFEAT', 33, 1],
    ['NAWUN', 34, 2],
    ['NAWUPF', 36, 2],
    ['NACWU', 38, 2],
    ['NABSN', 40, 2],
    ['NABO', 42, 2],
    ['NABSPF', 44, 2],
    ['NOIOB', 46, 2],
    ['NVMCAP', 48, 16],
    ['NPWG', 64, 2],
    ['NPWA', 66, 2],
    ['NPDG', 68, 2],
    ['NPDA', 70, 2],
    ['NOWS', 72, 2],
    ['MSSRL', 74, 2],
    ['MCL', 76, 4],
    ['MSRC', 80, 1],
    ['KPIOS', 81, 1],
    ['NULBAF', 82, 1],
    ['KPIODAAG', 84, 4],
    ['ANAGRPID', 92, 4],
    ['NSATTR', 99, 1],
    ['NVMSETID', 100, 2],
    ['ENDGID', 102, 2],
    ['NGUID', 104, 16],
    ['EUI64', 120, 8],
    ['VS', 384, 3712],
    // The figure has a row for each of LBAF0 to LBAF63, at bytes 131:128 to 383:380.
    ['LBAF', 128, 256],
  ] as const

  describe('Identify Namespace (CNS 00h, NVM 1.2 §4.1.5.1, Figure 114)', () => {
    it.each(figure114)('%s begins at byte %i and is %i bytes long', (symbol, offset, lengthBytes) => {
      expect(IdentifyNamespace[symbol]).toMatchObject({ offset, lengthBytes })
    })

    it('declares the symbols of the figure and no others', () => {
      expect(Object.keys(IdentifyNamespace.fields).toSorted()).toEqual(figure114.map(([symbol]) => symbol).toSorted())
      expect(IdentifyNamespace.bytes).toBe(4096)
    })

    it.each([
      ['NSFEAT', { THINP: 0x01, NSABP: 0x02, DAE: 0x04, UIDREUSE: 0x08, OPTPERF: 0x30, MAM: 0x40, OPTRPERF: 0x80 }],
      ['FLBAS', { FIDXL: 0x0f, MTELBA: 0x10, FIDXU: 0x60 }],
      ['MC', { MTELBAS: 0x01, MTSBS: 0x02 }],
      ['DPC', { PIT1S: 0x01, PIT2S: 0x02, PIT3S: 0x04, PIIFB: 0x08, PIILB: 0x10 }],
      ['DPS', { PIT: 0x07, PIP: 0x08 }],
      ['NMIC', { SHRNS: 0x01, DISNS: 0x02 }], // this and the next: libnvme 1.3 enum nvme_id_ns_nmic, nvme_id_ns_rescap
      ['RESCAP', { PTPL: 0x01, WE: 0x02, EA: 0x04, WERO: 0x08, EARO: 0x10, WEAR: 0x20, EAAR: 0x40, IEK: 0x80 }],
      ['FPI', { RFNVM: 0x7f, FPIS: 0x80 }], // Base 2.1 Figure 319, as KPIOS and NSATTR
      ['DLFEAT', { DRB: 0x07, WZDS: 0x08, GDS: 0x10 }],
      ['KPIOS', { KPIOENS: 0x01, KPIOSNS: 0x02 }],
      ['NSATTR', { CWP: 0x01 }],
      ['LBAF', { MS: 0x0000_ffff, LBADS: 0x00ff_0000, RP: 0x0300_0000 }], // Figure 116
    ] as const)('%s has the bits of its list', (symbol, words) => {
      expect(Object.keys(IdentifyNamespace.fields[symbol].rows)).toEqual(Object.keys(words))
      const handles = IdentifyNamespace[symbol] as unknown as Record<string, { of(raw: number): number }>
      for (const [name, word] of Object.entries(words)) {
        expect(handles[name]!.of(word), name).toBe(word / ((word & -word) >>> 0))
        expect(handles[name]!.of(~word >>> 0), name).toBe(0)
      }
    })

    it('values have the names of Figure 114', () => {
      const { DPS, DLFEAT } = IdentifyNamespace
      expect(DPS.PIT.values).toEqual({ NONE: 0, TYPE_1: 1, TYPE_2: 2, TYPE_3: 3 })
      expect(DLFEAT.DRB.values).toEqual({ NOT_REPORTED: 0, ZEROES: 1, ONES: 2 })
    })

    // Bytes 24 to 33 of the data that QEMU 7.2.22 returned for nvme-ns with ms=8,pi=1 (test/nvme-cli/captured.ts).
    it("describes QEMU's namespace with metadata and Type 1 protection", () => {
      const { data } = IdentifyNamespace.create()
      new Uint8Array(data.buffer).set([0x14, 0x07, 0x01, 0x03, 0x1f, 0x01, 0x00, 0x00, 0x00, 0x01], 24)
      expect(IdentifyNamespace.describe(data)).toEqual([
        'NSFEAT={ THINP=0 NSABP=0 DAE=1 UIDREUSE=0 OPTPERF=1 MAM=0 OPTRPERF=0 }',
        'NLBAF=7',
        'FLBAS={ FIDXL=1 MTELBA=0 FIDXU=0 }',
        'MC={ MTELBAS=1 MTSBS=1 }',
        'DPC={ PIT1S=1 PIT2S=1 PIT3S=1 PIIFB=1 PIILB=1 }',
        'DPS={ PIT=TYPE_1 PIP=0 }',
        'DLFEAT={ DRB=ZEROES WZDS=0 GDS=0 }',
      ])
    })

    it('encodes a namespace of 1,000,215,216 blocks with 512-byte and 4096-byte formats', () => {
      const LBAF = new Uint32Array(64)
      LBAF[0] = 0x0209_0000
      LBAF[1] = 0x010c_0000
      const id = IdentifyNamespace.create({ NSZE: 1_000_215_216, NLBAF: zeroBased(2), FLBAS: 1, LBAF })
      expect(toHex(id.data, 0, 8)).toBe('b0 12 9e 3b 00 00 00 00')
      expect(toHex(id.data, 25, 2)).toBe('01 01')
      expect(toHex(id.data, 128, 12)).toBe('00 00 09 02 00 00 0c 01 00 00 00 00')
      const { LBADS, MS, RP } = IdentifyNamespace.LBAF
      const word = id.LBAF[lbaFormatIndex(id.FLBAS, 2)]!
      expect([LBADS.of(word), MS.of(word), RP.nameOf(RP.of(word))]).toEqual([12, 0, 'BETTER'])
    })
  })

  describe('lbaFormatIndex (FLBAS)', () => {
    it.each([
      // FLBAS, formats, index
      [0x00, 1, 0],
      [0x0f, 16, 15],
      [0x65, 16, 5], // bits 6:5 are ignored with 16 formats or fewer
      [0x65, 17, 53],
      [0x25, 64, 21],
      [0x7f, 64, 63],
      [0x10, 64, 0], // bit 4 selects how metadata is transferred
      [0x80, 64, 0], // bit 7 is reserved
    ])('FLBAS %i with %i formats is format %i', (flbas, formats, index) => {
      expect(lbaFormatIndex(flbas, formats)).toBe(index)
    })
  })
})

describe('identify command set', () => {
  describe('Identify Namespace of the NVM Command Set (CNS 05h, NVM 1.2 §4.1.5.3, Figures 118 and 119)', () => {
    it('is 4096 bytes, with its fields at the bytes of the figure', () => {
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

    it('guards have 16, 32 or 64 bits; PIF 11b refers to QPIF', () => {
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
    it('is 4096 bytes, with its fields at the bytes of the figure', () => {
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

    it('describes a controller of NVM Command Set 1.2 with 256 ranges and its own queue format', () => {
      const { data } = IdentifyNvmController.create({ DMRL: 255, VER: 0x0001_0200, LBAMQF: 0xc0 })
      expect(IdentifyNvmController.describe(data)).toEqual(['DMRL=255', 'VER={ TER=0 MNR=2 MJR=1 }', 'LBAMQF=0xc0'])
      expect(IdentifyNvmController.LBAMQF.TYPE_0).toBe(0)
    })
  })
})

describe('identify granularity', () => {
  describe('Namespace Granularity List (CNS 16h, NVM 1.2 §4.1.5.8, Figures 123 and 124)', () => {
    it('has up to 64 descriptors of 16 bytes, starting at byte 32', () => {
      expect(NamespaceGranularityList.bytes).toBe(4096)
      expect(bytesOf(NamespaceGranularityList)).toEqual([
        ['NGA', 0, 4],
        ['ND', 4, 1],
        ['NGD', 32, 1024],
      ])
      expect(NamespaceGranularity.bytes).toBe(16)
      expect(bytesOf(NamespaceGranularity)).toEqual([
        ['NSG', 0, 8],
        ['NCG', 8, 8],
      ])
    })

    describeRows([[wordOf(NamespaceGranularityList, 'NGA'), { GDM: 0x1n }]])

    it("the number of descriptors is 0's based", () => {
      const list = NamespaceGranularityList.create({ NGA: { GDM: 1 }, ND: zeroBased(64) })
      list.NGD.at(63).NCG = 1n << 30n
      expect(list.data.getUint8(4)).toBe(63)
      expect(list.data.getBigUint64(1048, true)).toBe(1_073_741_824n)
      expect(NamespaceGranularityList.describe(list.data)).toEqual([
        'NGA={ GDM=1 }',
        'ND=63',
        'NGD[63]={ NCG=1073741824 }',
      ])
    })
  })
})
