import { describe, expect, it } from 'vitest'
import { bytesOf } from '../../test/figures.js'
import { describeRows, wordOf } from '../../test/rows.js'
import { zeroBased } from '../layout/zero-based.js'
import { NamespaceGranularity, NamespaceGranularityList } from './identify-granularity.js'

describe('Namespace Granularity List (CNS 16h, NVM 1.2 §4.1.5.8, Figures 123 and 124)', () => {
  it('has up to 64 descriptors of 16 bytes from byte 32 on', () => {
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
