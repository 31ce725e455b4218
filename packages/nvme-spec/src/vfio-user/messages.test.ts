import { describe, expect, it } from 'vitest'
import {
  VFIO_IRQ,
  VFIO_REGION,
  VFIO_REGION_CAPABILITY,
  VFIO_USER,
  VfioCapability,
  VfioIrqInfo,
  VfioIrqSet,
  VfioRegionInfo,
  VfioSparseArea,
  VfioSparseMmap,
  VfioUserDeviceInfo,
  VfioUserDmaAccess,
  VfioUserDmaMap,
  VfioUserDmaUnmap,
  VfioUserHeader,
  VfioUserRegionAccess,
  VfioUserVersion,
} from './messages.js'
import { fromHex, toHex } from '../../test/bytes.js'
import { describeRows, places, wordOf } from '../../test/rows.js'

describe('access', () => {
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

    it('decodes a mapping of 64 MiB for reads and writes, at the second page of a file', () => {
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

    it('encodes an access to four bytes of BAR0 at 0x1000, the tail doorbell of the Admin queue', () => {
      const { data } = VfioUserRegionAccess.create({ OFFSET: 0x1000n, REGION: 0, COUNT: 4 })
      expect(toHex(data)).toBe('00 10 00 00 00 00 00 00 00 00 00 00 04 00 00 00')
    })

    it('decodes the request of a device for a page of its client', () => {
      expect(VfioUserDmaAccess.decode(fromHex('00 f0 ff ff 0f 00 00 00  00 10 00 00 00 00 00 00'))).toEqual({
        ADDRESS: 0xf_ffff_f000n,
        COUNT: 0x1000n,
      })
    })
  })
})

describe('message', () => {
  describe('the header of vfio-user 0.9.2', () => {
    it('VfioUserHeader has the fields of its table', () => {
      expect(VfioUserHeader.bytes).toBe(16)
      expect(places(VfioUserHeader)).toEqual([
        ['ID', 0, 2],
        ['COMMAND', 2, 2],
        ['SIZE', 4, 4],
        ['FLAGS', 8, 4],
        ['ERROR', 12, 4],
      ])
    })

    describeRows([[wordOf(VfioUserHeader, 'FLAGS'), { TYPE: 0xfn, NO_REPLY: 0x10n, ERROR: 0x20n }]])

    it('encodes a rejection, which has an errno and no data', () => {
      const refused = VfioUserHeader.create({
        ID: 0x1234,
        COMMAND: VFIO_USER.REGION_WRITE,
        SIZE: 16,
        FLAGS: { TYPE: 1, ERROR: 1 },
        ERROR: 22,
      })
      expect(toHex(refused.data)).toBe('34 12 0a 00 10 00 00 00 21 00 00 00 16 00 00 00')
    })
  })

  it('VFIO_USER has the numbers of the table Commands', () => {
    expect(VFIO_USER).toEqual({
      VERSION: 1,
      DMA_MAP: 2,
      DMA_UNMAP: 3,
      DEVICE_GET_INFO: 4,
      DEVICE_GET_REGION_INFO: 5,
      DEVICE_GET_REGION_IO_FDS: 6,
      DEVICE_GET_IRQ_INFO: 7,
      DEVICE_SET_IRQS: 8,
      REGION_READ: 9,
      REGION_WRITE: 10,
      DMA_READ: 11,
      DMA_WRITE: 12,
      DEVICE_RESET: 13,
      REGION_WRITE_MULTI: 15,
      DEVICE_FEATURE: 16,
      MIG_DATA_READ: 17,
      MIG_DATA_WRITE: 18,
    })
  })

  it('VfioUserVersion is two numbers, followed by the text', () => {
    expect(places(VfioUserVersion)).toEqual([
      ['MAJOR', 0, 2],
      ['MINOR', 2, 2],
    ])
    expect(VfioUserVersion.bytes).toBe(4)
  })
})

describe('device', () => {
  describe('structures of linux/vfio.h in vfio-user 0.9.2', () => {
    it('VfioUserDeviceInfo is the structure without the later capability offset', () => {
      expect(VfioUserDeviceInfo.bytes).toBe(16)
      expect(places(VfioUserDeviceInfo)).toEqual([
        ['ARGSZ', 0, 4],
        ['FLAGS', 4, 4],
        ['NUM_REGIONS', 8, 4],
        ['NUM_IRQS', 12, 4],
      ])
    })

    describeRows([
      [wordOf(VfioUserDeviceInfo, 'FLAGS'), { RESET: 0x1n, PCI: 0x2n }],
      [wordOf(VfioRegionInfo, 'FLAGS'), { READ: 0x1n, WRITE: 0x2n, MMAP: 0x4n, CAPS: 0x8n }],
      [wordOf(VfioIrqInfo, 'FLAGS'), { EVENTFD: 0x1n, MASKABLE: 0x2n, AUTOMASKED: 0x4n, NORESIZE: 0x8n }],
      [
        wordOf(VfioIrqSet, 'FLAGS'),
        {
          DATA_NONE: 0x01n,
          DATA_BOOL: 0x02n,
          DATA_EVENTFD: 0x04n,
          ACTION_MASK: 0x08n,
          ACTION_UNMASK: 0x10n,
          ACTION_TRIGGER: 0x20n,
        },
      ],
    ])

    it('decodes BAR0 of 16 KiB whose second page can be mapped, for doorbells', () => {
      const answer = fromHex(
        '40 00 00 00  0f 00 00 00  00 00 00 00  20 00 00 00  00 40 00 00 00 00 00 00  00 00 00 00 00 00 00 00 ' +
          '01 00 01 00  00 00 00 00  01 00 00 00  00 00 00 00  00 10 00 00 00 00 00 00  00 10 00 00 00 00 00 00',
      )
      expect(VfioRegionInfo.decode(answer)).toEqual({
        ARGSZ: 64,
        FLAGS: { READ: 1, WRITE: 1, MMAP: 1, CAPS: 1 },
        INDEX: VFIO_REGION.BAR0,
        CAP_OFFSET: 32,
        SIZE: 0x4000n,
        OFFSET: 0n,
      })
      expect(VfioCapability.decode(answer, 32)).toEqual({ ID: VFIO_REGION_CAPABILITY.SPARSE_MMAP, VERSION: 1, NEXT: 0 })
      expect(VfioSparseMmap.decode(answer, 40)).toEqual({ NR_AREAS: 1 })
      expect(VfioSparseArea.decode(answer, 48)).toEqual({ OFFSET: 0x1000n, SIZE: 0x1000n })
    })

    it('encodes two eventfds for the MSI-X vectors from 1 on, passed as ancillary data', () => {
      const { data } = VfioIrqSet.create({
        ARGSZ: 20,
        FLAGS: { DATA_EVENTFD: 1, ACTION_TRIGGER: 1 },
        INDEX: VFIO_IRQ.MSIX,
        START: 1,
        COUNT: 2,
      })
      expect(toHex(data)).toBe('14 00 00 00 24 00 00 00 02 00 00 00 01 00 00 00 02 00 00 00')
    })
  })
})
