import { describe, expect, it } from 'vitest'
import { bytesOf, valuesOf } from '../../test/figures.js'
import { describeRows, wordOf } from '../../test/rows.js'
import {
  PrimaryControllerCapabilities,
  SecondaryController,
  SecondaryControllerList,
} from './identify-virtualization.js'

describe('Primary Controller Capabilities (CNS 14h, libnvme 1.3 nvme_primary_ctrl_cap)', () => {
  it('has its fields at the bytes of the header, in 4096', () => {
    expect(PrimaryControllerCapabilities.bytes).toBe(4096)
    expect(bytesOf(PrimaryControllerCapabilities)).toEqual([
      ['CNTLID', 0, 2],
      ['PORTID', 2, 2],
      ['CRT', 4, 1],
      ['VQFRT', 32, 4],
      ['VQRFA', 36, 4],
      ['VQRFAP', 40, 2],
      ['VQPRT', 42, 2],
      ['VQFRSM', 44, 2],
      ['VQGRAN', 46, 2],
      ['VIFRT', 64, 4],
      ['VIRFA', 68, 4],
      ['VIRFAP', 72, 2],
      ['VIPRT', 74, 2],
      ['VIFRSM', 76, 2],
      ['VIGRAN', 78, 2],
    ])
  })

  // As nvme-cli 2.3 explains them.
  describeRows([[wordOf(PrimaryControllerCapabilities, 'CRT'), { VQ: 0x01n, VI: 0x02n }]])
})

describe('Secondary Controller List (CNS 15h, libnvme 1.3 nvme_secondary_ctrl_list)', () => {
  it('has entries of 32 bytes from byte 32 on', () => {
    expect([SecondaryController.bytes, SecondaryControllerList.bytes]).toEqual([32, 4096])
    expect(bytesOf(SecondaryControllerList)).toEqual([
      ['NUMID', 0, 1],
      ['ENTRY', 32, 4064],
    ])
    expect(bytesOf(SecondaryController)).toEqual([
      ['SCID', 0, 2],
      ['PCID', 2, 2],
      ['SCS', 4, 1],
      ['VFN', 8, 2],
      ['NVQ', 10, 2],
      ['NVI', 12, 2],
    ])
  })

  it('a secondary controller is offline or online', () => {
    expect(valuesOf(SecondaryController.fields.SCS.rows.STATE)).toEqual({ OFFLINE: 0, ONLINE: 1 })
    const { data } = SecondaryControllerList.create({
      NUMID: 1,
      ENTRY: [{ SCID: 1, SCS: { STATE: 1 }, VFN: 1, NVQ: 2 }],
    })
    expect(data.getUint8(32 + 4)).toBe(1)
    expect(SecondaryControllerList.describe(data)).toEqual([
      'NUMID=1',
      'ENTRY[0]={ SCID=1 SCS={ STATE=ONLINE } VFN=1 NVQ=2 }',
    ])
  })
})
