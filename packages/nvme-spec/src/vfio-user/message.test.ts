import { describe, expect, it } from 'vitest'
import { toHex } from '../../test/bytes.js'
import { describeRows, places, wordOf } from '../../test/rows.js'
import { VFIO_USER, VfioUserHeader, VfioUserVersion } from './message.js'

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

  it('a refusal has its number, and nothing behind it', () => {
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

it('VfioUserVersion is two numbers before the text', () => {
  expect(places(VfioUserVersion)).toEqual([
    ['MAJOR', 0, 2],
    ['MINOR', 2, 2],
  ])
  expect(VfioUserVersion.bytes).toBe(4)
})
