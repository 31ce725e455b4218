import { describe, expect, it } from 'vitest'
import { commandOf } from './commands.js'
import { countOf, zeroBased } from './layout/rows.js'
import { Read } from './nvm/commands.js'
import {
  IdentifyZonedController,
  IdentifyZonedNamespace,
  ReportZones,
  ZNS_OPCODE,
  ZONE_STATE,
  ZONE_TYPE,
  ZoneAppend,
  ZoneAppendCompletion,
  ZoneDescriptor,
  zoneDescriptorOffset,
  ZonedLbaFormat,
  ZoneManagementReceive,
  ZoneManagementSend,
  ZoneManagementSendDw0,
} from './zns.js'
import { fromHex } from '../test/bytes.js'
import { describeEntries } from '../test/entries.js'
import { bytesOf, rowsOf, valuesOf } from '../test/figures.js'
import { describeRows, wordOf } from '../test/rows.js'

describe('opcodes', () => {
  it('are those of ZNS 1.1 Figure 12, in addition to those of the NVM Command Set', () => {
    expect(ZNS_OPCODE.values).toEqual({ ZONE_MANAGEMENT_SEND: 0x79, ZONE_MANAGEMENT_RECEIVE: 0x7a, ZONE_APPEND: 0x7d })
    expect([0x79, 0x7a, 0x7d, 0x02].map((opcode) => commandOf('zns', opcode))).toEqual([
      ZoneManagementSend,
      ZoneManagementReceive,
      ZoneAppend,
      Read,
    ])
    expect(commandOf('nvm', 0x79)).toBeUndefined()
  })
})

describe('zone append', () => {
  describeEntries([
    [
      ZoneAppend, // ZNS 1.1 §3.4.1, Figures 22 to 29
      ...(['zns', 0x7d, 'host-to-controller'] as const),
      {
        ...{ CID: 9, NSID: 1, MPTR: 0x3000, PRP1: 0x1000, PRP2: 0x2000, ZSLBA: 0x22_3344_5566, NLB: zeroBased(8) },
        ...{ DTYPE: 2, STC: 1, PIREMAP: 1, PRINFO: 0xd, FUA: 1, LR: 1, DSPEC: 0xabcd, LBTU2: 0x8899 },
        ...{ LBTU3: 0xaabb_1122, LBTL: 0x3344_5566, LBAT: 0x5566, LBATM: 0x7788 },
      },
      `7d 00 09 00  01 00 00 00  99 88 00 00  22 11 bb aa
     00 30 00 00  00 00 00 00  00 10 00 00  00 00 00 00
     00 20 00 00  00 00 00 00  66 55 44 33  22 00 00 00
     07 00 20 f7  00 00 cd ab  66 55 44 33  66 55 88 77`,
    ],
    [
      ZoneAppend, // the same entry as libnvme 1.3 nvme_zns_append produces
      ...(['zns', 0x7d, 'host-to-controller'] as const),
      { CID: 0, NSID: 1, ZSLBA: 0x22_3344_5566, NLB: zeroBased(8), PIREMAP: 1, FUA: 1, LBAT: 0x5566, LBATM: 0x7788 },
      `7d 00 00 00  01 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  66 55 44 33  22 00 00 00
     07 00 00 42  00 00 00 00  00 00 00 00  66 55 88 77`,
    ],
  ])

  it('Zone Append completes with the lowest LBA that was written in Dwords 0 and 1 (ZNS 1.1 §3.4.1.2)', () => {
    expect(bytesOf(ZoneAppendCompletion)).toEqual([['ALBA', 0, 8]])
    const completion = fromHex('66 55 44 33  22 00 00 00  04 00 01 00  12 04 01 00')
    expect(ZoneAppendCompletion.view(completion).ALBA).toBe(0x22_3344_5566)
  })
})

describe('zone management', () => {
  // ZNS 1.1 §3.4.2 and §3.4.3, Figures 31 to 34 and 38 to 39. libnvme 1.3 produces the same Command Dwords 10 to 13.
  describeEntries([
    [
      ZoneManagementSend,
      ...(['zns', 0x79, 'host-to-controller'] as const),
      { CID: 9, NSID: 1, SLBA: 0x22_3344_5566, ZSA: 4, SELECT_ALL: 1 },
      `79 00 09 00  01 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  66 55 44 33  22 00 00 00
     00 00 00 00  04 01 00 00  00 00 00 00  00 00 00 00`,
    ],
    [
      ZoneManagementSend,
      ...(['zns', 0x79, 'host-to-controller'] as const),
      { CID: 9, NSID: 1, PRP1: 0x3000, SLBA: 0x22_3344_5566, ZSA: 0x11, ZSASO: 1 },
      `79 00 09 00  01 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 30 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  66 55 44 33  22 00 00 00
     00 00 00 00  11 02 00 00  00 00 00 00  00 00 00 00`,
    ],
    [
      ZoneManagementReceive,
      ...(['zns', 0x7a, 'controller-to-host'] as const),
      { CID: 9, NSID: 1, PRP1: 0x3000, SLBA: 0x22_3344_5566, NUMD: zeroBased(1024), ZRA: 1, ZRASF: 5, PR: 1 },
      `7a 00 09 00  01 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 30 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  66 55 44 33  22 00 00 00
     ff 03 00 00  01 05 01 00  00 00 00 00  00 00 00 00`,
    ],
  ])

  describe('zone management', () => {
    it('has the actions of ZNS 1.1 Figures 34 and 39, and that of libnvme 1.3 for zone random write areas', () => {
      expect(valuesOf(ZoneManagementSend.ZSA)).toEqual({
        CLOSE: 0x01,
        FINISH: 0x02,
        OPEN: 0x03,
        RESET: 0x04,
        OFFLINE: 0x05,
        SET_ZONE_DESCRIPTOR_EXTENSION: 0x10,
        ZRWA_FLUSH: 0x11,
      })
      expect(valuesOf(ZoneManagementReceive.ZRA)).toEqual({ REPORT_ZONES: 0, EXTENDED_REPORT_ZONES: 1 })
    })

    it('has the reporting options of ZNS 1.1 Figure 34', () => {
      expect(valuesOf(ZoneManagementReceive.ZRASF)).toEqual({
        ALL: 0,
        EMPTY: 1,
        IMPLICITLY_OPENED: 2,
        EXPLICITLY_OPENED: 3,
        CLOSED: 4,
        FULL: 5,
        READ_ONLY: 6,
        OFFLINE: 7,
        WITH_ATTRIBUTES: 9,
      })
    })

    it('reports in bit 0 of Dword 0 of a completion that a zone capacity changed (ZNS 1.1 Figure 41)', () => {
      expect(ZoneManagementSendDw0.decode(1)).toEqual({ ZCC: 1 })
      expect(ZoneManagementSendDw0.decode(2)).toEqual({ ZCC: 0, reserved: 2 })
    })
  })
})

describe('zone report', () => {
  describe('Zone Descriptor (ZNS 1.1 §3.4.2.2.3, Figure 37)', () => {
    it('has the types and states of the figure', () => {
      expect(ZONE_TYPE.values).toEqual({ SEQUENTIAL_WRITE_REQUIRED: 2 })
      expect(ZONE_STATE.values).toEqual({
        EMPTY: 1,
        IMPLICITLY_OPENED: 2,
        EXPLICITLY_OPENED: 3,
        CLOSED: 4,
        READ_ONLY: 0xd,
        FULL: 0xe,
        OFFLINE: 0xf,
      })
    })

    it('is 64 bytes, and has the attributes at their bits', () => {
      expect(ZoneDescriptor.bytes).toBe(64)
      expect(bytesOf(ZoneDescriptor).slice(2)).toEqual([
        ['ZA', 2, 1],
        ['ZAI', 3, 1],
        ['ZCAP', 8, 8],
        ['ZSLBA', 16, 8],
        ['WP', 24, 8],
      ])
      expect(rowsOf({ fields: ZoneDescriptor.fields.ZA.rows })).toEqual([
        ['ZFC', 0, 0],
        ['FZR', 1, 1],
        ['RZR', 2, 2],
        ['ZRWAV', 3, 3], // libnvme 1.3 nvme_zns_za
        ['ZDEV', 7, 7],
      ])
      expect(rowsOf({ fields: ZoneDescriptor.fields.ZAI.rows })).toEqual([
        ['FZRTL', 1, 0],
        ['RZRTL', 3, 2],
      ])
    })

    it('has its type in bits 3:0 of byte 0 and its state in bits 7:4 of byte 1', () => {
      const data = fromHex(
        `02 30 81 06  00 00 00 00  00 c0 07 00  00 00 00 00  00 00 08 00  01 00 00 00  08 00 08 00  01 00 00 00 ${'00 '.repeat(32)}`,
      )
      expect(ZoneDescriptor.decode(data)).toEqual({
        ZT: 2,
        ZS: 3,
        ZA: { ZFC: 1, FZR: 0, RZR: 0, ZRWAV: 0, ZDEV: 1 },
        ZAI: { FZRTL: 2, RZRTL: 1 },
        ZCAP: 0x7_c000,
        ZSLBA: 0x1_0008_0000,
        WP: 0x1_0008_0008,
      })
      expect(ZoneDescriptor.describe(data).slice(0, 2)).toEqual([
        'ZT=SEQUENTIAL_WRITE_REQUIRED',
        'ZS=EXPLICITLY_OPENED',
      ])
    })
  })

  describe('Report Zones (ZNS 1.1 §3.4.2.2, Figures 35 and 36)', () => {
    it('has the number of zones in bytes 7:0 of a 64-byte header', () => {
      expect(ReportZones.bytes).toBe(64)
      expect(bytesOf(ReportZones)).toEqual([['NR_ZONES', 0, 8]])
    })

    it('has Zone Descriptor 0 in bytes 127:64 and Zone Descriptor 1 in bytes 191:128', () => {
      expect([0, 1].map((index) => zoneDescriptorOffset(index))).toEqual([64, 128])
    })

    it('has Zone Descriptor 1 at byte 128 + ZDES with extensions, and the next at 192 + 2 ZDES', () => {
      expect([0, 1, 2].map((index) => zoneDescriptorOffset(index, 256))).toEqual([64, 384, 704])
    })

    it('rejects an index or a length that is not an integer of at least 0', () => {
      expect(() => zoneDescriptorOffset(-1)).toThrow(
        new RangeError('index: expected an integer from 0 to 9007199254740991, got -1'),
      )
      expect(() => zoneDescriptorOffset(Number.NaN)).toThrow(RangeError)
      expect(() => zoneDescriptorOffset('2' as never)).toThrow(TypeError)
      expect(() => zoneDescriptorOffset(1, -64)).toThrow('extensionBytes: expected an integer from 0')
    })
  })
})

describe('identify', () => {
  describe('Identify Namespace of the Zoned Namespace Command Set (CNS 05h, libnvme 1.3 nvme_zns_id_ns)', () => {
    it('is 4096 bytes, with its fields at the bytes of the header', () => {
      expect(IdentifyZonedNamespace.bytes).toBe(4096)
      expect(bytesOf(IdentifyZonedNamespace)).toEqual([
        ['ZOC', 0, 2],
        ['OZCS', 2, 2],
        ['MAR', 4, 4],
        ['MOR', 8, 4],
        ['RRL', 12, 4],
        ['FRL', 16, 4],
        ['RRL1', 20, 4],
        ['RRL2', 24, 4],
        ['RRL3', 28, 4],
        ['FRL1', 32, 4],
        ['FRL2', 36, 4],
        ['FRL3', 40, 4],
        ['NUMZRWA', 44, 4],
        ['ZRWAFG', 48, 2],
        ['ZRWASZ', 50, 2],
        ['ZRWACAP', 52, 1],
        ['LBAFE', 2816, 1024],
        ['VS', 3840, 256],
      ])
      expect(ZonedLbaFormat.bytes).toBe(16)
      expect(bytesOf(ZonedLbaFormat)).toEqual([
        ['ZSZE', 0, 8],
        ['ZDES', 8, 1],
      ])
    })

    // As nvme-cli 2.3 explains them.
    describeRows([
      [wordOf(IdentifyZonedNamespace, 'ZOC'), { VZC: 0x0001n, ZAE: 0x0002n }],
      [wordOf(IdentifyZonedNamespace, 'OZCS'), { RAZB: 0x0001n, ZRWASUP: 0x0002n }],
      [wordOf(IdentifyZonedNamespace, 'ZRWACAP'), { EXPFLUSHSUP: 0x01n }],
    ])

    it("active and open resources are 0's based", () => {
      const data = new DataView(new ArrayBuffer(4096))
      data.setUint32(4, 13, true)
      data.setUint32(8, 0xffff_ffff, true)
      const { MAR, MOR } = IdentifyZonedNamespace.view(data)
      expect([countOf(MAR), MOR]).toEqual([14, 0xffff_ffff])
    })

    // The values that the documentation of zonedstorage.io shows for `nvme zns id-ns`.
    it('describes a namespace that allows reads across zones, with zones of 100000h blocks', () => {
      const data = new DataView(new ArrayBuffer(4096))
      data.setUint16(2, 1, true)
      data.setUint32(4, 0xffff_ffff, true)
      data.setUint32(8, 0xffff_ffff, true)
      data.setUint32(2816, 0x10_0000, true)
      expect(IdentifyZonedNamespace.describe(data)).toEqual([
        'OZCS={ RAZB=1 ZRWASUP=0 }',
        'MAR=4294967295',
        'MOR=4294967295',
        'LBAFE[0]={ ZSZE=0x100000 }',
      ])
    })
  })

  describe('Identify Controller of the Zoned Namespace Command Set (CNS 06h, libnvme 1.3 nvme_zns_id_ctrl)', () => {
    it('is 4096 bytes, with ZASL in byte 0', () => {
      expect(IdentifyZonedController.bytes).toBe(4096)
      expect(bytesOf(IdentifyZonedController)).toEqual([['ZASL', 0, 1]])
    })
  })
})
