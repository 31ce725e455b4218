import { describe, expect, it } from 'vitest'
import { fromHex } from '../../test/bytes.js'
import { bytesOf, rowsOf } from '../../test/figures.js'
import { ReportZones, ZONE_STATE, ZONE_TYPE, ZoneDescriptor, zoneDescriptorOffset } from './zone-report.js'

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

  it('is of 64 bytes, and has the attributes at their bits', () => {
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
    expect(ZoneDescriptor.describe(data).slice(0, 2)).toEqual(['ZT=SEQUENTIAL_WRITE_REQUIRED', 'ZS=EXPLICITLY_OPENED'])
  })
})

describe('Report Zones (ZNS 1.1 §3.4.2.2, Figures 35 and 36)', () => {
  it('has the number of zones in bytes 7:0 of a header of 64', () => {
    expect(ReportZones.bytes).toBe(64)
    expect(bytesOf(ReportZones)).toEqual([['NR_ZONES', 0, 8]])
  })

  it('has Zone Descriptor 0 in bytes 127:64 and Zone Descriptor 1 in bytes 191:128', () => {
    expect([0, 1].map((index) => zoneDescriptorOffset(index))).toEqual([64, 128])
  })

  it('extended, has Zone Descriptor 1 at byte 128 + ZDES, and the next at 192 + 2 ZDES', () => {
    expect([0, 1, 2].map((index) => zoneDescriptorOffset(index, 256))).toEqual([64, 384, 704])
  })
})
