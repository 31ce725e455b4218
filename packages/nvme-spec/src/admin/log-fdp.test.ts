import { describe, expect, it } from 'vitest'
import { fromHex, sparse } from '../../test/bytes.js'
import { bytesOf, rowsOf, valuesOf } from '../../test/figures.js'
import { countOf } from '../layout/zero-based.js'
import {
  FdpConfigurationDescriptor,
  FdpConfigurationsHeader,
  FdpEvent,
  FdpEventsHeader,
  FdpStatisticsLog,
  MediaReallocated,
  ReclaimUnitHandleDescriptor,
  ReclaimUnitHandleUsageDescriptor,
  ReclaimUnitHandleUsageHeader,
} from './log-fdp.js'

describe('FDP Configurations (LID 20h, Base 2.1 §5.1.12.1.28; libnvme 1.3 nvme_fdp_config_desc)', () => {
  it('has its fields at the bytes of Figures 279 and 280', () => {
    expect([FdpConfigurationsHeader.bytes, ...bytesOf(FdpConfigurationsHeader)]).toEqual([
      16,
      ['NUMFDPC', 0, 2],
      ['VER', 2, 1],
      ['SZE', 4, 4],
    ])
    expect([FdpConfigurationDescriptor.bytes, ...bytesOf(FdpConfigurationDescriptor)]).toEqual([
      64,
      ['DSZE', 0, 2],
      ['FDPA', 2, 1],
      ['VSS', 3, 1],
      ['NRG', 4, 4],
      ['NRUH', 8, 2],
      ['MAXPIDS', 10, 2],
      ['NNS', 12, 4],
      ['RUNS', 16, 8],
      ['ERUTL', 24, 4],
    ])
    expect(rowsOf({ fields: FdpConfigurationDescriptor.fields.FDPA.rows })).toEqual([
      ['RGIF', 3, 0],
      ['FDPVWC', 4, 4],
      ['FDPCV', 7, 7],
    ])
    expect([ReclaimUnitHandleDescriptor.bytes, ...bytesOf(ReclaimUnitHandleDescriptor)]).toEqual([4, ['RUHT', 0, 1]])
    expect(valuesOf(ReclaimUnitHandleDescriptor.fields.RUHT)).toEqual({
      ...{ INITIALLY_ISOLATED: 1, PERSISTENTLY_ISOLATED: 2 },
    })
  })

  it('decodes a page of one configuration of two handles', () => {
    const page = sparse(88, {
      ...{ 0: '00 00 00 00 58', 16: '48 00 92 00 04 00 00 00 02 00 07 00 80 00 00 00', 32: '00 00 00 00 02' },
      ...{ 40: '3c', 80: '01 00 00 00 02' },
    })
    const header = FdpConfigurationsHeader.decode(page)
    expect([header, countOf(header.NUMFDPC)]).toEqual([{ NUMFDPC: 0, VER: 0, SZE: 88 }, 1])
    expect(FdpConfigurationDescriptor.decode(page, 16)).toEqual({
      ...{ DSZE: 72, FDPA: { RGIF: 2, FDPVWC: 1, FDPCV: 1 }, VSS: 0, NRG: 4, NRUH: 2, MAXPIDS: 7, NNS: 128 },
      ...{ RUNS: 8_589_934_592n, ERUTL: 60 },
    })
    const handles = ReclaimUnitHandleDescriptor.view(page, 80)
    expect([handles.at(0).RUHT, handles.at(1).RUHT]).toEqual([1, 2])
  })
})

describe('Reclaim Unit Handle Usage (LID 21h, Base 2.1 §5.1.12.1.29)', () => {
  it('has its fields at the bytes of Figures 284 and 285', () => {
    expect([ReclaimUnitHandleUsageHeader.bytes, ...bytesOf(ReclaimUnitHandleUsageHeader)]).toEqual([8, ['NRUH', 0, 2]])
    expect([ReclaimUnitHandleUsageDescriptor.bytes, ...bytesOf(ReclaimUnitHandleUsageDescriptor)]).toEqual([
      8,
      ['RUHA', 0, 1],
    ])
    expect(valuesOf(ReclaimUnitHandleUsageDescriptor.fields.RUHA)).toEqual({
      ...{ NOT_USED: 0, HOST_SPECIFIED: 1, CONTROLLER_SPECIFIED: 2 },
    })
  })

  it('decodes a page of two handles', () => {
    const page = sparse(24, { 0: '02', 8: '01', 16: '02' })
    expect(ReclaimUnitHandleUsageHeader.decode(page)).toEqual({ NRUH: 2 })
    expect([8, 16].map((at) => ReclaimUnitHandleUsageDescriptor.decode(page, at).RUHA)).toEqual([1, 2])
  })
})

describe('FDP Statistics (LID 22h, Base 2.1 §5.1.12.1.30)', () => {
  it('is three counters of 128 bits', () => {
    expect([FdpStatisticsLog.bytes, ...bytesOf(FdpStatisticsLog)]).toEqual([
      64,
      ['HBMW', 0, 16],
      ['MBMW', 16, 16],
      ['MBE', 32, 16],
    ])
    expect(FdpStatisticsLog.decode(sparse(64, { 1: '10', 24: '01', 47: '80' }))).toEqual({
      HBMW: 4096n,
      MBMW: 18_446_744_073_709_551_616n,
      MBE: 170_141_183_460_469_231_731_687_303_715_884_105_728n,
    })
  })
})

describe('FDP Events (LID 23h, Base 2.1 §5.1.12.1.31)', () => {
  it('has its fields at the bytes of Figures 288 and 289', () => {
    expect([FdpEventsHeader.bytes, ...bytesOf(FdpEventsHeader)]).toEqual([64, ['NUMFDPE', 0, 4]])
    expect([FdpEvent.bytes, ...bytesOf(FdpEvent)]).toEqual([
      64,
      ['ETYP', 0, 1],
      ['FDPEF', 1, 1],
      ['PID', 2, 2],
      ['ETMSP', 4, 8],
      ['NSID', 12, 4],
      ['ETSP', 16, 16],
      ['RGICD', 32, 2],
      ['RUHID', 34, 2],
      ['VS', 40, 24],
    ])
    expect(rowsOf({ fields: FdpEvent.fields.FDPEF.rows })).toEqual([
      ['PIV', 0, 0],
      ['NSIDV', 1, 1],
      ['LV', 2, 2],
    ])
    expect(valuesOf(FdpEvent.fields.ETYP)).toEqual({
      ...{ RECLAIM_UNIT_NOT_FULLY_WRITTEN: 0x00, RECLAIM_UNIT_TIME_LIMIT_EXCEEDED: 0x01 },
      ...{ RESET_MODIFIED_RECLAIM_UNIT_HANDLES: 0x02, INVALID_PLACEMENT_IDENTIFIER: 0x03 },
      ...{ MEDIA_REALLOCATED: 0x80, IMPLICITLY_MODIFIED_RECLAIM_UNIT_HANDLE: 0x81 },
    })
  })

  it('Media Reallocated of the NVM Command Set has the fields of NVM 1.2 Figure 112', () => {
    expect([MediaReallocated.bytes, ...bytesOf(MediaReallocated)]).toEqual([
      16,
      ['SEF', 0, 1],
      ['NLBAM', 2, 2],
      ['LBA', 4, 8],
    ])
    expect(rowsOf({ fields: MediaReallocated.fields.SEF.rows })).toEqual([['LBAV', 0, 0]])
  })

  it('decodes a page of one Media Reallocated event', () => {
    const page = new DataView(new ArrayBuffer(128))
    new Uint8Array(page.buffer).set([1])
    const event = `80 07 34 12 00 68 e5 cf 8b 01 00 00 01 00 00 00
      01 00 ff ff 00 10 00 00 00 00 00 00 00 00 00 00  02 00 05 00 00 00 00 00 aa`
    new Uint8Array(page.buffer).set(new Uint8Array(fromHex(event).buffer), 64)
    expect(FdpEventsHeader.decode(page)).toEqual({ NUMFDPE: 1 })
    const { ETSP, VS, ...rest } = FdpEvent.decode(page, 64)
    expect(rest).toEqual({
      ...{ ETYP: 0x80, FDPEF: { PIV: 1, NSIDV: 1, LV: 1 }, PID: 0x1234, NSID: 1, RGICD: 2, RUHID: 5 },
      ETMSP: [{ TSTMP: 1_700_000_000_000, TSTMPS: { SYNC: 0, TSTMPO: 0 } }],
    })
    expect([VS.length, VS[0]]).toEqual([24, 0xaa])
    expect(MediaReallocated.decode(new DataView(ETSP.buffer, ETSP.byteOffset))).toEqual({
      ...{ SEF: { LBAV: 1 }, NLBAM: 65_535, LBA: 4096n },
    })
  })
})
