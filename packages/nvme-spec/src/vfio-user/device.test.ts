import { describe, expect, it } from 'vitest'
import { fromHex, toHex } from '../../test/bytes.js'
import { describeRows, places, wordOf } from '../../test/rows.js'
import {
  VFIO_IRQ,
  VFIO_REGION,
  VFIO_REGION_CAPABILITY,
  VfioCapability,
  VfioIrqInfo,
  VfioIrqSet,
  VfioRegionInfo,
  VfioSparseArea,
  VfioSparseMmap,
  VfioUserDeviceInfo,
} from './device.js'

describe('what vfio-user 0.9.2 has of linux/vfio.h', () => {
  it('VfioUserDeviceInfo is the part that was there before capabilities', () => {
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

  it('BAR0 of 16 KiB whose second page can be mapped, for doorbells', () => {
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

  it('two eventfds for the MSI-X vectors from 1 on, which come beside the message', () => {
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
