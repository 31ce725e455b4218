import { describe, expect, it } from 'vitest'
import { fromHex, toHex } from '../../test/bytes.js'
import { describeRows, places, wordOf } from '../../test/rows.js'
import { VfioUserDmaAccess, VfioUserDmaMap, VfioUserDmaUnmap, VfioUserRegionAccess } from './access.js'

describe('memory and regions of vfio-user 0.9.2', () => {
  it('VfioUserDmaMap has the fields of its table', () => {
    expect(VfioUserDmaMap.bytes).toBe(32)
    expect(places(VfioUserDmaMap)).toEqual([
      ['ARGSZ', 0, 4],
      ['FLAGS', 4, 4],
      ['OFFSET', 8, 8],
      ['ADDRESS', 16, 8],
      ['SIZE', 24, 8],
    ])
  })

  it('VfioUserDmaUnmap has the fields of its table', () => {
    expect(VfioUserDmaUnmap.bytes).toBe(24)
    expect(places(VfioUserDmaUnmap)).toEqual([
      ['ARGSZ', 0, 4],
      ['FLAGS', 4, 4],
      ['ADDRESS', 8, 8],
      ['SIZE', 16, 8],
    ])
  })

  it('VfioUserRegionAccess has the fields of its table', () => {
    expect(VfioUserRegionAccess.bytes).toBe(16)
    expect(places(VfioUserRegionAccess)).toEqual([
      ['OFFSET', 0, 8],
      ['REGION', 8, 4],
      ['COUNT', 12, 4],
    ])
  })

  it('VfioUserDmaAccess has the fields of its table', () => {
    expect(VfioUserDmaAccess.bytes).toBe(16)
    expect(places(VfioUserDmaAccess)).toEqual([
      ['ADDRESS', 0, 8],
      ['COUNT', 8, 8],
    ])
  })

  describeRows([
    [wordOf(VfioUserDmaMap, 'FLAGS'), { READ: 0x1n, WRITE: 0x2n }],
    [wordOf(VfioUserDmaUnmap, 'FLAGS'), { GET_DIRTY_BITMAP: 0x1n, ALL: 0x2n }], // VFIO_DMA_UNMAP_FLAG_*
  ])

  it('64 MiB for a device to read and write, from the second page of a file on', () => {
    const bytes = fromHex(
      '20 00 00 00  03 00 00 00  00 10 00 00 00 00 00 00  00 00 00 80 01 00 00 00  00 00 00 04 00 00 00 00',
    )
    expect(VfioUserDmaMap.decode(bytes)).toEqual({
      ARGSZ: 32,
      FLAGS: { READ: 1, WRITE: 1 },
      OFFSET: 0x1000n,
      ADDRESS: 0x1_8000_0000n,
      SIZE: 0x400_0000n,
    })
  })

  it('four bytes of BAR0 from 0x1000 on: the tail doorbell of the Admin queue', () => {
    const { data } = VfioUserRegionAccess.create({ OFFSET: 0x1000n, REGION: 0, COUNT: 4 })
    expect(toHex(data)).toBe('00 10 00 00 00 00 00 00 00 00 00 00 04 00 00 00')
  })

  it('a page that a device asks its client for', () => {
    expect(VfioUserDmaAccess.decode(fromHex('00 f0 ff ff 0f 00 00 00  00 10 00 00 00 00 00 00'))).toEqual({
      ADDRESS: 0xf_ffff_f000n,
      COUNT: 0x1000n,
    })
  })
})
