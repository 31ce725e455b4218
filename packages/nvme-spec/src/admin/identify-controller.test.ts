import { describe, expect, it } from 'vitest'
import { IdentifyController, PowerStateDescriptor } from './identify-controller.js'
import type { FieldMap } from '../layout/index.js'
import { zeroBased } from '../layout/rows.js'
import { fromHex, toHex } from '../../test/bytes.js'
import { valuesOf } from '../../test/figures.js'

describe('identify power state', () => {
  // Base 2.1 §5.1.13.2.1, Figure 313: symbol, most and least significant of its 256 bits.
  const figure313 = [
    ['MP', 15, 0],
    ['MXPS', 24, 24],
    ['NOPS', 25, 25],
    ['ENLAT', 63, 32],
    ['EXLAT', 95, 64],
    ['RRT', 100, 96],
    ['RRL', 108, 104],
    ['RWT', 116, 112],
    ['RWL', 124, 120],
    ['IDLP', 143, 128],
    ['IPS', 151, 150],
    ['ACTP', 175, 160],
    ['APW', 178, 176],
    ['APS', 183, 182],
    ['EPFRT', 191, 184],
    ['FQVT', 199, 192],
    ['EPFVT', 207, 200],
    ['EPFRTS', 211, 208],
    ['FQVTS', 215, 212],
    ['EPFVTS', 219, 216],
  ] as const

  /** A descriptor as a number of 256 bits, low byte first. */
  function descriptorOf(bits: bigint): DataView {
    return fromHex(bits.toString(16).padStart(64, '0').match(/../g)!.toReversed().join(' '))
  }

  describe('Power State Descriptor (Base 2.1 §5.1.13.2.1, Figure 313)', () => {
    it.each(figure313)('%s is bits %i:%i', (symbol, msb, lsb) => {
      const ones = (1n << BigInt(msb - lsb + 1)) - 1n
      const placed = ones << BigInt(lsb)
      expect(PowerStateDescriptor.view(descriptorOf(placed))[symbol]).toBe(Number(ones))
      expect(PowerStateDescriptor.view(descriptorOf(((1n << 256n) - 1n) ^ placed))[symbol]).toBe(0)
    })

    it('has the fields of the figure and no others, in 32 bytes', () => {
      expect(Object.keys(PowerStateDescriptor.fields)).toEqual(figure313.map(([symbol]) => symbol))
      expect(PowerStateDescriptor.bytes).toBe(32)
    })

    it('MXPS is 0 for 0.01 W and 1 for 0.0001 W; IPS and APS are 0 for not reported, 1 for 0.0001 W and 2 for 0.01 W', () => {
      const { MXPS, IPS, APS, APW } = PowerStateDescriptor.fields
      expect(valuesOf(MXPS)).toEqual({ MW_10: 0, UW_100: 1 })
      expect([valuesOf(IPS), valuesOf(APS)]).toEqual([
        { NOT_REPORTED: 0, UW_100: 1, MW_10: 2 },
        { NOT_REPORTED: 0, UW_100: 1, MW_10: 2 },
      ])
      expect(valuesOf(APW)).toEqual({ NO_WORKLOAD: 0, WORKLOAD_1: 1, WORKLOAD_2: 2 })
    })

    // Figure 314
    it.each(['EPFRTS', 'FQVTS', 'EPFVTS'] as const)('%s ranges from a microsecond to a million seconds', (symbol) => {
      const names = Object.entries(valuesOf(PowerStateDescriptor.fields[symbol])).map(([name, value]) => [value, name])
      expect(names).toEqual([
        ...[
          [0x0, 'US_1'],
          [0x1, 'US_10'],
          [0x2, 'US_100'],
        ],
        ...[
          [0x3, 'MS_1'],
          [0x4, 'MS_10'],
          [0x5, 'MS_100'],
        ],
        ...[
          [0x6, 'S_1'],
          [0x7, 'S_10'],
          [0x8, 'S_100'],
        ],
        ...[
          [0x9, 'S_1000'],
          [0xa, 'S_10000'],
          [0xb, 'S_100000'],
          [0xc, 'S_1000000'],
        ],
      ])
    })

    // The bytes were read from QEMU 7.2.22 (test/nvme-cli/captured.ts).
    it("describes QEMU's only power state: 25 W, 16 us to enter and 4 us to leave", () => {
      const page = new DataView(new ArrayBuffer(4096))
      const state = new Uint8Array(fromHex('c4 09 00 00 10 00 00 00 04 00 00 00').buffer)
      new Uint8Array(page.buffer).set(state, 2048)
      expect(IdentifyController.decode(page).PSD[0]).toMatchObject({ MP: 2500, MXPS: 0, ENLAT: 16, EXLAT: 4, RRT: 0 })
      expect(IdentifyController.describe(page)).toEqual(['PSD[0]={ MP=2500 ENLAT=16 EXLAT=4 }'])
    })

    it('the 32 power states of a controller are written and read at their offsets', () => {
      const id = IdentifyController.create({ PSD: [{ MP: 350 }, { MP: 5, MXPS: 1, NOPS: 1, EXLAT: 10_000 }] })
      id.PSD.at(31).APS = PowerStateDescriptor.APS.MW_10
      expect(toHex(id.data, 2048, 4)).toBe('5e 01 00 00')
      expect(toHex(id.data, 2080, 12)).toBe('05 00 00 03 00 00 00 00 10 27 00 00')
      expect(id.data.getUint8(3062)).toBe(0x80)
      expect(IdentifyController.describe(id.data)).toEqual([
        'PSD[0]={ MP=350 }',
        'PSD[1]={ MP=5 MXPS=UW_100 NOPS=1 EXLAT=10000 }',
        'PSD[31]={ APS=MW_10 }',
      ])
    })
  })
})

describe('identify controller', () => {
  // Base 2.1 §5.1.13.2.1, Figure 312: symbol, first byte, length.
  const figure312 = [
    ['VID', 0, 2],
    ['SSVID', 2, 2],
    ['SN', 4, 20],
    ['MN', 24, 40],
    ['FR', 64, 8],
    ['RAB', 72, 1],
    ['IEEE', 73, 3],
    ['CMIC', 76, 1],
    ['MDTS', 77, 1],
    ['CNTLID', 78, 2],
    ['VER', 80, 4],
    ['RTD3R', 84, 4],
    ['RTD3E', 88, 4],
    ['OAES', 92, 4],
    ['CTRATT', 96, 4],
    ['RRLS', 100, 2],
    ['BPCAP', 102, 1],
    ['NSSL', 104, 4],
    ['PLSI', 110, 1],
    ['CNTRLTYPE', 111, 1],
    ['FGUID', 112, 16],
    ['CRDT1', 128, 2],
    ['CRDT2', 130, 2],
    ['CRDT3', 132, 2],
    ['CRCAP', 134, 1],
    ['NVMSR', 253, 1],
    ['VWCI', 254, 1],
    ['MEC', 255, 1],
    ['OACS', 256, 2],
    ['ACL', 258, 1],
    ['AERL', 259, 1],
    ['FRMW', 260, 1],
    ['LPA', 261, 1],
    ['ELPE', 262, 1],
    ['NPSS', 263, 1],
    ['AVSCC', 264, 1],
    ['APSTA', 265, 1],
    ['WCTEMP', 266, 2],
    ['CCTEMP', 268, 2],
    ['MTFA', 270, 2],
    ['HMPRE', 272, 4],
    ['HMMIN', 276, 4],
    ['TNVMCAP', 280, 16],
    ['UNVMCAP', 296, 16],
    ['RPMBS', 312, 4],
    ['EDSTT', 316, 2],
    ['DSTO', 318, 1],
    ['FWUG', 319, 1],
    ['KAS', 320, 2],
    ['HCTMA', 322, 2],
    ['MNTMT', 324, 2],
    ['MXTMT', 326, 2],
    ['SANICAP', 328, 4],
    ['HMMINDS', 332, 4],
    ['HMMAXD', 336, 2],
    ['NSETIDMAX', 338, 2],
    ['ENDGIDMAX', 340, 2],
    ['ANATT', 342, 1],
    ['ANACAP', 343, 1],
    ['ANAGRPMAX', 344, 4],
    ['NANAGRPID', 348, 4],
    ['PELS', 352, 4],
    ['DID', 356, 2],
    ['KPIOC', 358, 1],
    ['MPTFAWR', 360, 2],
    ['MEGCAP', 368, 16],
    ['TMPTHHA', 384, 1],
    ['CQT', 386, 2],
    ['SQES', 512, 1],
    ['CQES', 513, 1],
    ['MAXCMD', 514, 2],
    ['NN', 516, 4],
    ['ONCS', 520, 2],
    ['FUSES', 522, 2],
    ['FNA', 524, 1],
    ['VWC', 525, 1],
    ['AWUN', 526, 2],
    ['AWUPF', 528, 2],
    ['ICSVSCC', 530, 1],
    ['NWPC', 531, 1],
    ['ACWU', 532, 2],
    ['CDFS', 534, 2],
    ['SGLS', 536, 4],
    ['MNAN', 540, 4],
    ['MAXDNA', 544, 16],
    ['MAXCNA', 560, 4],
    ['OAQD', 564, 4],
    ['RHIRI', 568, 1],
    ['HIRT', 569, 1],
    ['CMMRTD', 570, 2],
    ['NMMRTD', 572, 2],
    ['MINMRTG', 574, 1],
    ['MAXMRTG', 575, 1],
    ['TRATTR', 576, 1],
    ['MCUDMQ', 578, 2],
    ['MNSUDMQ', 580, 2],
    ['MCMR', 582, 2],
    ['NMCMR', 584, 2],
    ['MCDQPC', 586, 2],
    ['SUBNQN', 768, 256],
    ['IOCCSZ', 1792, 4],
    ['IORCSZ', 1796, 4],
    ['ICDOFF', 1800, 2],
    ['FCATT', 1802, 1],
    ['MSDBD', 1803, 1],
    ['OFCS', 1804, 2],
    ['DCTYPE', 1806, 1],
    ['VS', 3072, 1024],
    // The figure has a row for each of PSD0 to PSD31, at bytes 2079:2048 to 3071:3040.
    ['PSD', 2048, 1024],
  ] as const

  describe('Identify Controller (CNS 01h, Base 2.1 §5.1.13.2.1, Figure 312)', () => {
    it.each(figure312)('%s begins at byte %i and is %i bytes long', (symbol, offset, lengthBytes) => {
      expect(IdentifyController[symbol]).toMatchObject({ offset, lengthBytes })
    })

    it('declares the symbols of the figure and no others', () => {
      expect(Object.keys(IdentifyController.fields).toSorted()).toEqual(figure312.map(([symbol]) => symbol).toSorted())
      expect(IdentifyController.bytes).toBe(4096)
    })

    // Word with the field's bits set, as the lists below Figure 312 place them.
    it.each([
      ['CMIC', { MPORTS: 0x01, MCTRS: 0x02, FT: 0x04, ANARS: 0x08 }],
      ['VER', { TER: 0x0000_00ff, MNR: 0x0000_ff00, MJR: 0xffff_0000 }],
      [
        'OAES',
        {
          ...{ NSAN: 0x0000_0100, FAN: 0x0000_0200, ANACN: 0x0000_0800, PLEAN: 0x0000_1000, LSIAN: 0x0000_2000 },
          ...{ EGEAN: 0x0000_4000, NNSS: 0x0000_8000, TTHR: 0x0001_0000, RGCNS: 0x0002_0000, ANSAN: 0x0008_0000 },
          ...{ ZDCN: 0x0800_0000, DLPCN: 0x8000_0000 },
        },
      ],
      [
        'CTRATT',
        {
          ...{ HIDS: 0x0_0001, NOPSPM: 0x0_0002, NSETS: 0x0_0004, RRLVLS: 0x0_0008, EGS: 0x0_0010, PLM: 0x0_0020 },
          ...{ TBKAS: 0x0_0040, NG: 0x0_0080, SQA: 0x0_0100, ULIST: 0x0_0200, MDS: 0x0_0400, FCM: 0x0_0800 },
          ...{ VCM: 0x0_1000, DEG: 0x0_2000, DNVMS: 0x0_4000, ELBAS: 0x0_8000, MEM: 0x1_0000, HMBR: 0x2_0000 },
          ...{ RHII: 0x4_0000, FDPS: 0x8_0000 },
        },
      ],
      [
        'RRLS',
        {
          ...{ RRL0: 0x0001, RRL1: 0x0002, RRL2: 0x0004, RRL3: 0x0008, RRL4: 0x0010, RRL5: 0x0020, RRL6: 0x0040 },
          ...{ RRL7: 0x0080, RRL8: 0x0100, RRL9: 0x0200, RRL10: 0x0400, RRL11: 0x0800, RRL12: 0x1000 },
          ...{ RRL13: 0x2000, RRL14: 0x4000, RRL15: 0x8000 },
        },
      ],
      ['BPCAP', { RPMBBPWPS: 0x03, SFBPWPS: 0x04 }],
      ['PLSI', { PLSEPF: 0x01, PLSFQ: 0x02 }],
      ['CRCAP', { RRSUP: 0x01, RGIDC: 0x02 }],
      ['NVMSR', { NVMESD: 0x01, NVMEE: 0x02 }], // libnvme 1.3 enum nvme_id_ctrl_nvmsr
      ['VWCI', { VWCR: 0x7f, VWCRV: 0x80 }], // libnvme 1.3 enum nvme_id_ctrl_vwci
      ['MEC', { SMBUSME: 0x01, PCIEME: 0x02 }], // libnvme 1.3 enum nvme_id_ctrl_mec
      [
        'OACS',
        {
          ...{ SSRS: 0x001, FNVMS: 0x002, FWDS: 0x004, NMS: 0x008, DSTS: 0x010, DIRS: 0x020 },
          ...{ NSRS: 0x040, VMS: 0x080, DBCS: 0x100, GLSS: 0x200, CFLS: 0x400, HMLMS: 0x800 },
        },
      ],
      ['FRMW', { FFSRO: 0x01, NOFS: 0x0e, FAWR: 0x10, SMUD: 0x20 }],
      ['LPA', { SMARTS: 0x01, CSES: 0x02, LPEDS: 0x04, TS: 0x08, PES: 0x10, MLPS: 0x20, DA4S: 0x40 }],
      ['AVSCC', { VSCF: 0x01 }], // libnvme 1.3 enum nvme_id_ctrl_avscc
      ['APSTA', { APTS: 0x01 }], // libnvme 1.3 enum nvme_id_ctrl_apsta
      ['RPMBS', { NRPMBU: 0x0000_0007, AUTHM: 0x0000_0038, TSZE: 0x00ff_0000, ASZE: 0xff00_0000 }], // nvme_id_ctrl_rpmbs
      ['DSTO', { SDSO: 0x01, HIRS: 0x02 }],
      ['HCTMA', { HCTMS: 0x0001 }],
      ['SANICAP', { CES: 0x01, BES: 0x02, OWS: 0x04, VERS: 0x08, NDI: 0x2000_0000, NODMMAS: 0xc000_0000 }],
      [
        'ANACAP', // libnvme 1.3 enum nvme_id_ctrl_anacap
        {
          ...{
            RANAOS: 0x01,
            RANANOS: 0x02,
            RANAIS: 0x04,
            RANAPLS: 0x08,
            RANACS: 0x10,
            ANAGIDLWAS: 0x40,
            ANAGIDS: 0x80,
          },
        },
      ],
      ['KPIOC', { KPIOS: 0x01, KPIOSC: 0x02 }],
      ['TMPTHHA', { TMPTHMH: 0x07 }],
      ['SQES', { MINSQES: 0x0f, MAXSQES: 0xf0 }],
      ['CQES', { MINCQES: 0x0f, MAXCQES: 0xf0 }],
      [
        'ONCS',
        {
          ...{ NVMCMPS: 0x0001, NVMWUSV: 0x0002, NVMDSMSV: 0x0004, NVMWZSV: 0x0008, SSFS: 0x0010, RESERVS: 0x0020 },
          ...{ TSS: 0x0040, NVMVFYS: 0x0080, NVMCPYS: 0x0100, NVMCSA: 0x0200, NVMAFC: 0x0400, MAXWZD: 0x0800 },
          ...{ NSZS: 0x1000 },
        },
      ],
      ['FUSES', { FCWS: 0x01 }],
      ['FNA', { FNS: 0x01, SENS: 0x02, CRYES: 0x04, FNVMBS: 0x08 }],
      ['VWC', { VWCP: 0x01, FB: 0x06 }],
      ['ICSVSCC', { SNVSCF: 0x01 }],
      ['NWPC', { NWPWPS: 0x01, WPUPCS: 0x02, PWPS: 0x04 }],
      ['CDFS', { CDF0S: 0x01, CDF1S: 0x02, CDF2S: 0x04, CDF3S: 0x08, CDF4S: 0x10 }],
      [
        'SGLS',
        {
          ...{ SGLS: 0x00_0003, KSDBDS: 0x00_0004, SDT: 0x00_ff00, SBBDS: 0x01_0000, MBA: 0x02_0000 },
          ...{ LLDTS: 0x04_0000, MSDS: 0x08_0000, SAOS: 0x10_0000, TSDBDS: 0x20_0000 },
        },
      ],
      ['TRATTR', { THMCS: 0x01, TUDCS: 0x02, MRTLL: 0x04 }],
      ['FCATT', { CM: 0x01 }], // libnvme 1.3 enum nvme_id_ctrl_fcatt
      ['OFCS', { DCS: 0x0001 }], // libnvme 1.3 enum nvme_id_ctrl_ofcs
    ] as const)('%s has the bits of its list', (symbol, words) => {
      const fields: FieldMap = IdentifyController.fields
      expect(Object.keys(fields[symbol]!.rows)).toEqual(Object.keys(words))
      const handles = IdentifyController[symbol] as unknown as Record<string, { of(raw: number): number }>
      for (const [name, word] of Object.entries(words)) {
        expect(handles[name]!.of(word), name).toBe(word / ((word & -word) >>> 0))
        expect(handles[name]!.of(~word >>> 0), name).toBe(0)
      }
    })

    it('CNTRLTYPE 1h is an I/O controller, 2h a Discovery controller, 3h an Administrative controller', () => {
      const { NOT_REPORTED, IO, DISCOVERY, ADMINISTRATIVE } = IdentifyController.CNTRLTYPE
      expect([NOT_REPORTED, IO, DISCOVERY, ADMINISTRATIVE]).toEqual([0, 1, 2, 3])
    })

    it('values have the names of Figure 312', () => {
      const { BPCAP, RPMBS, SANICAP, VWC, SGLS, FCATT, DCTYPE } = IdentifyController
      expect(BPCAP.RPMBBPWPS.values).toEqual({ NOT_SPECIFIED: 0, NOT_SUPPORTED: 1, SUPPORTED: 2 })
      expect(RPMBS.AUTHM.values).toEqual({ HMAC_SHA_256: 0 })
      expect(SANICAP.NODMMAS.values).toEqual({ NOT_DEFINED: 0, NOT_MODIFIED: 1, MODIFIED: 2 })
      expect(VWC.FB.values).toEqual({ NOT_INDICATED: 0, NOT_SUPPORTED: 2, SUPPORTED: 3 })
      expect(SGLS.SGLS.values).toEqual({ NOT_SUPPORTED: 0, SUPPORTED: 1, DWORD_ALIGNED: 2 })
      expect(FCATT.CM.values).toEqual({ DYNAMIC: 0, STATIC: 1 }) // as libnvme 1.3 and nvme-cli 2.3 explain the bit
      expect([DCTYPE.NOT_REPORTED, DCTYPE.DDC, DCTYPE.CDC]).toEqual([0, 1, 2])
    })

    // Values that `nvme id-ctrl` printed for a KIOXIA KBG50ZNS256G (test/nvme-cli/captured.ts).
    it('describes version, firmware, sanitize operations and write cache of a drive of 2021', () => {
      const id = IdentifyController.create({ VER: 0x1_0400, FRMW: 0x14, SANICAP: 0xa000_0002, HCTMA: 1, VWC: 7 })
      expect(IdentifyController.describe(id.data)).toEqual([
        'VER={ TER=0 MNR=4 MJR=1 }',
        'FRMW={ FFSRO=0 NOFS=2 FAWR=1 SMUD=0 }',
        'HCTMA={ HCTMS=1 }',
        'SANICAP={ CES=0 BES=1 OWS=0 VERS=0 NDI=1 NODMMAS=MODIFIED }',
        'VWC={ VWCP=1 FB=SUPPORTED }',
      ])
    })

    it('strings are ASCII padded with spaces, which reading removes', () => {
      const id = IdentifyController.create({ SN: 'S1', MN: 'A model', FR: '1.0' })
      expect(toHex(id.data, 4, 20)).toBe('53 31' + ' 20'.repeat(18))
      expect(toHex(id.data, 64, 8)).toBe('31 2e 30 20 20 20 20 20')
      expect([id.SN, id.MN, id.FR]).toEqual(['S1', 'A model', '1.0'])
      expect(() => (id.FR = '123456789')).toThrow(
        'Identify Controller.FR (Firmware Revision): expected at most 8 printable ASCII characters, got "123456789"',
      )
      expect(() => (id.SN = 'ü')).toThrow(RangeError)
    })

    it('SUBNQN is read up to the first NUL; a written one leaves room for a NUL', () => {
      const id = IdentifyController.create({ SUBNQN: 'nqn.2014-08.org.nvmexpress:uuid:0' })
      id.data.setUint8(768 + 40, 0x41)
      expect(id.SUBNQN).toBe('nqn.2014-08.org.nvmexpress:uuid:0')
      expect(() => (id.SUBNQN = 'n'.repeat(256))).toThrow('at most 255 printable ASCII characters')
      new Uint8Array(id.data.buffer).fill(0x6e, 768, 1024)
      expect(id.SUBNQN).toBe('n'.repeat(256))
    })

    it('TNVMCAP is 128 bits, low byte first', () => {
      const id = IdentifyController.create({ TNVMCAP: (1n << 64n) + 512n })
      expect(toHex(id.data, 280, 16)).toBe('00 02 00 00 00 00 00 00 01 00 00 00 00 00 00 00')
      expect(id.TNVMCAP).toBe(18_446_744_073_709_552_128n)
      expect(() => (id.TNVMCAP = 1n << 128n)).toThrow('Identify Controller.TNVMCAP')
      expect(() => (id.TNVMCAP = -1n)).toThrow(RangeError)
    })

    it('byte fields are views of the same memory, and accept only their exact length', () => {
      const id = IdentifyController.create({ IEEE: Uint8Array.of(0x44, 0x1b, 0x00) })
      id.IEEE[0] = 0xa0
      expect(toHex(id.data, 73, 3)).toBe('a0 1b 00')
      expect(() => (id.IEEE = Uint8Array.of(1, 2))).toThrow('expected 3 bytes (Uint8Array), got 2 bytes')
    })

    it('describes the nonzero fields, bits by name and strings in quotation marks', () => {
      const id = IdentifyController.create({ VID: 0x15b7, SN: 'S1', AERL: zeroBased(4), SQES: 0x66, NN: 1 })
      expect(IdentifyController.describe(id.data)).toEqual([
        'VID=5559',
        'SN="S1"',
        'AERL=3',
        'SQES={ MINSQES=6 MAXSQES=6 }',
        'NN=1',
      ])
    })
  })
})
