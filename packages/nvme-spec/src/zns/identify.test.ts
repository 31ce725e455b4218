import { describe, expect, it } from 'vitest'
import { bytesOf } from '../../test/figures.js'
import { describeRows, wordOf } from '../../test/rows.js'
import { countOf } from '../layout/zero-based.js'
import { IdentifyZonedController, IdentifyZonedNamespace, ZonedLbaFormat } from './identify.js'

describe('Identify Namespace of the Zoned Namespace Command Set (CNS 05h, libnvme 1.3 nvme_zns_id_ns)', () => {
  it('has its fields at the bytes of the header, in 4096', () => {
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
  it('prints a namespace that reads across zones, with zones of 100000h blocks', () => {
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
  it('ZASL is byte 0 of 4096', () => {
    expect(IdentifyZonedController.bytes).toBe(4096)
    expect(bytesOf(IdentifyZonedController)).toEqual([['ZASL', 0, 1]])
  })
})
