import { describe, expect, it } from 'vitest'
import { fromHex, sparse } from '../../test/bytes.js'
import { bytesOf } from '../../test/figures.js'
import {
  CapacityConfigurationDescriptor,
  CapacityConfigurationListHeader,
  ChannelConfigurationDescriptor,
  EnduranceGroupConfigurationDescriptor,
  MediaUnitConfigurationDescriptor,
  MediaUnitStatusDescriptor,
  MediaUnitStatusHeader,
} from './log-capacity.js'

describe('Media Unit Status (LID 10h, Base 2.1 §5.1.12.1.16)', () => {
  it('has its fields at the bytes of Figures 254 and 255', () => {
    expect([MediaUnitStatusHeader.bytes, ...bytesOf(MediaUnitStatusHeader)]).toEqual([
      16,
      ['NMU', 0, 2],
      ['CCHANS', 2, 2],
      ['SELC', 4, 2],
    ])
    expect([MediaUnitStatusDescriptor.bytes, ...bytesOf(MediaUnitStatusDescriptor)]).toEqual([
      14,
      ['MUID', 0, 2],
      ['DID', 2, 2],
      ['ENDGID', 4, 2],
      ['NVMSETID', 6, 2],
      ['CAF', 8, 2],
      ['AVSP', 10, 1],
      ['PUSED', 11, 1],
      ['MUCS', 12, 1],
      ['CIO', 13, 1],
    ])
  })

  it('decodes a page of one Media Unit at two channels', () => {
    const page = fromHex(`
      01 00 08 00 02 00 00 00  00 00 00 00 00 00 00 00
      07 00 01 00 02 00 03 00  64 00 63 05 02 10 00 00  04 00 05 00
    `)
    expect(MediaUnitStatusHeader.decode(page)).toEqual({ NMU: 1, CCHANS: 8, SELC: 2 })
    const unit = MediaUnitStatusDescriptor.decode(page, 16)
    expect(unit).toEqual({
      ...{ MUID: 7, DID: 1, ENDGID: 2, NVMSETID: 3, CAF: 100, AVSP: 99, PUSED: 5, MUCS: 2, CIO: 16 },
    })
    expect([0, 1].map((i) => page.getUint16(16 + unit.CIO + i * 2, true))).toEqual([4, 5])
  })
})

describe('Supported Capacity Configuration List (LID 11h, Base 2.1 §5.1.12.1.17)', () => {
  it('has its fields at the bytes of Figures 256 to 260', () => {
    expect([CapacityConfigurationListHeader.bytes, ...bytesOf(CapacityConfigurationListHeader)]).toEqual([
      16,
      ['SCCN', 0, 1],
    ])
    expect([CapacityConfigurationDescriptor.bytes, ...bytesOf(CapacityConfigurationDescriptor)]).toEqual([
      32,
      ['CCID', 0, 2],
      ['DID', 2, 2],
      ['EGCN', 4, 2],
    ])
    expect([EnduranceGroupConfigurationDescriptor.bytes, ...bytesOf(EnduranceGroupConfigurationDescriptor)]).toEqual([
      82,
      ['ENDGID', 0, 2],
      ['CADJF', 2, 2],
      ['TEGCAP', 16, 16],
      ['SEGCAP', 32, 16],
      ['EE', 48, 16],
      ['EGSETS', 80, 2],
    ])
    expect([ChannelConfigurationDescriptor.bytes, ...bytesOf(ChannelConfigurationDescriptor)]).toEqual([
      4,
      ['CHID', 0, 2],
      ['CHMUS', 2, 2],
    ])
    expect([MediaUnitConfigurationDescriptor.bytes, ...bytesOf(MediaUnitConfigurationDescriptor)]).toEqual([
      8,
      ['MUID', 0, 2],
      ['MUDL', 6, 2],
    ])
  })

  it('decodes a list of one configuration, group, NVM Set, channel and Media Unit', () => {
    const page = sparse(148, {
      ...{ 0: '01', 16: '05 00 01 00 01', 48: '02 00 64 00', 64: '00 00 00 00 01', 80: '10', 96: '09', 128: '01 00' },
      ...{ 130: '03 00', 132: '01 00', 134: '06 00 01 00', 138: '07 00', 144: '00 00' },
    })
    expect(CapacityConfigurationListHeader.decode(page)).toEqual({ SCCN: 1 })
    expect(CapacityConfigurationDescriptor.decode(page, 16)).toEqual({ CCID: 5, DID: 1, EGCN: 1 })
    expect(EnduranceGroupConfigurationDescriptor.decode(page, 48)).toEqual({
      ...{ ENDGID: 2, CADJF: 100, TEGCAP: 4_294_967_296n, SEGCAP: 16n, EE: 9n, EGSETS: 1 },
    })
    expect(ChannelConfigurationDescriptor.decode(page, 134)).toEqual({ CHID: 6, CHMUS: 1 })
    expect(MediaUnitConfigurationDescriptor.decode(page, 138)).toEqual({ MUID: 7, MUDL: 0 })
  })
})
