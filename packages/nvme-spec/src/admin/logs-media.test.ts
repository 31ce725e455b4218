import { describe, expect, it } from 'vitest'
import {
  CapacityConfigurationDescriptor,
  CapacityConfigurationListHeader,
  ChangedZoneList,
  ChannelConfigurationDescriptor,
  EnduranceGroupConfigurationDescriptor,
  EnduranceGroupEventAggregate,
  EnduranceGroupLog,
  FdpConfigurationDescriptor,
  FdpConfigurationsHeader,
  FdpEvent,
  FdpEventsHeader,
  FdpStatisticsLog,
  LbaRangeDescriptor,
  LbaStatusLogHeader,
  LbaStatusNamespaceElement,
  MediaReallocated,
  MediaUnitConfigurationDescriptor,
  MediaUnitStatusDescriptor,
  MediaUnitStatusHeader,
  PredictableLatencyEventAggregate,
  PredictableLatencyLog,
  ReclaimUnitHandleDescriptor,
  ReclaimUnitHandleUsageDescriptor,
  ReclaimUnitHandleUsageHeader,
  ReservationNotificationLog,
  RotationalMediaLog,
} from './logs-media.js'
import { countOf } from '../layout/rows.js'
import { fromHex, sparse } from '../../test/bytes.js'
import { bytesOf, rowsOf, valuesOf } from '../../test/figures.js'

describe('log endurance', () => {
  describe('Endurance Group Information (LID 09h, Base 2.3 §5.2.12.1.10; libnvme 1.3 nvme_endurance_group_log)', () => {
    it('has its fields at the bytes of Figure 222', () => {
      expect([EnduranceGroupLog.bytes, ...bytesOf(EnduranceGroupLog)]).toEqual([
        512,
        ['EGCW', 0, 1],
        ['EGFEAT', 1, 1],
        ['AVSP', 3, 1],
        ['AVSPT', 4, 1],
        ['PUSED', 5, 1],
        ['DID', 6, 2],
        ['EE', 32, 16],
        ['DUR', 48, 16],
        ['DUW', 64, 16],
        ['MUW', 80, 16],
        ['HRC', 96, 16],
        ['HWC', 112, 16],
        ['MDIE', 128, 16],
        ['NEILE', 144, 16],
        ['TEGCAP', 160, 16],
        ['UEGCAP', 176, 16],
      ])
      expect(rowsOf({ fields: EnduranceGroupLog.fields.EGCW.rows })).toEqual([
        ['EGASB', 0, 0],
        ['EGDR', 2, 2],
        ['EGRO', 3, 3],
      ])
      expect(rowsOf({ fields: EnduranceGroupLog.fields.EGFEAT.rows })).toEqual([['EGRMEDIA', 0, 0]])
    })

    it('decodes a page', () => {
      const page = sparse(512, {
        ...{ 0: '05 01', 3: '5a 0a 03 02 00', 32: 'f4 01', 64: '01 00 00 00 00 00 00 00 01', 80: '07' },
        ...{ 160: '00 00 00 00 00 01', 191: '80' },
      })
      expect(EnduranceGroupLog.decode(page)).toEqual({
        EGCW: { EGASB: 1, EGDR: 1, EGRO: 0 },
        EGFEAT: { EGRMEDIA: 1 },
        ...{ AVSP: 90, AVSPT: 10, PUSED: 3, DID: 2, EE: 500n, DUR: 0n, DUW: 18_446_744_073_709_551_617n, MUW: 7n },
        ...{ HRC: 0n, HWC: 0n, MDIE: 0n, NEILE: 0n, TEGCAP: 1_099_511_627_776n },
        UEGCAP: 170_141_183_460_469_231_731_687_303_715_884_105_728n,
      })
    })
  })

  describe('Endurance Group Event Aggregate (LID 0Fh, Base 2.1 §5.1.12.1.15)', () => {
    it('begins with the number of identifiers, which follow at byte 8', () => {
      expect([EnduranceGroupEventAggregate.bytes, ...bytesOf(EnduranceGroupEventAggregate)]).toEqual([
        8,
        ['NUMENT', 0, 8],
      ])
      expect(EnduranceGroupEventAggregate.decode(sparse(14, { 0: '03', 8: '01 00 02 00 07 00' }))).toEqual({
        NUMENT: 3n,
      })
    })
  })

  describe('Rotational Media Information (LID 16h, Base 2.3 §5.2.12.1.22)', () => {
    it('has its fields at the bytes of Figure 274', () => {
      expect([RotationalMediaLog.bytes, ...bytesOf(RotationalMediaLog)]).toEqual([
        512,
        ['ENDGID', 0, 2],
        ['NUMA', 2, 2],
        ['NRS', 4, 2],
        ['SPINC', 8, 4],
        ['FSPINC', 12, 4],
        ['LDC', 16, 4],
        ['FLDC', 20, 4],
      ])
    })

    it('decodes a page: two actuators at 7,200 revolutions a minute', () => {
      const page = sparse(512, { 0: '01 00 02 00 20 1c 00 00 0a 00 00 00 01', 16: '14', 20: 'ff ff ff ff' })
      expect(RotationalMediaLog.decode(page)).toEqual({
        ...{ ENDGID: 1, NUMA: 2, NRS: 7200, SPINC: 10, FSPINC: 1, LDC: 20, FLDC: 4_294_967_295 },
      })
    })
  })
})

describe('log latency', () => {
  describe('Predictable Latency Per NVM Set (LID 0Ah; libnvme 1.3 nvme_nvmset_predictable_lat_log)', () => {
    it('has its fields at the bytes of the header', () => {
      expect([PredictableLatencyLog.bytes, ...bytesOf(PredictableLatencyLog)]).toEqual([
        512,
        ['STSNVMS', 0, 1],
        ['ETYP', 2, 2],
        ['DTWRT', 32, 8],
        ['DTWWT', 40, 8],
        ['DTWTM', 48, 8],
        ['NTWTMH', 56, 8],
        ['NTWTML', 64, 8],
        ['DTWRE', 128, 8],
        ['DTWWE', 136, 8],
        ['DTWTE', 144, 8],
      ])
      expect(rowsOf({ fields: PredictableLatencyLog.fields.STSNVMS.rows })).toEqual([['PLMW', 2, 0]])
      expect(valuesOf(PredictableLatencyLog.fields.STSNVMS.rows.PLMW)).toEqual({ NOT_USED: 0, DTWIN: 1, NDWIN: 2 })
      expect(rowsOf({ fields: PredictableLatencyLog.fields.ETYP.rows })).toEqual([
        ['DTRW', 0, 0],
        ['DTWW', 1, 1],
        ['DTTW', 2, 2],
        ['MVEAT', 14, 14],
        ['DEAT', 15, 15],
      ])
    })

    it('decodes a page', () => {
      const page = sparse(512, { 0: '01 00 02 80', 32: '40 42 0f', 56: 'e8 03', 144: '01 00 00 00 01' })
      expect(PredictableLatencyLog.decode(page)).toEqual({
        STSNVMS: { PLMW: 1 },
        ETYP: { DTRW: 0, DTWW: 1, DTTW: 0, MVEAT: 0, DEAT: 1 },
        ...{ DTWRT: 1_000_000n, DTWWT: 0n, DTWTM: 0n, NTWTMH: 1000n, NTWTML: 0n, DTWRE: 0n, DTWWE: 0n },
        DTWTE: 4_294_967_297n,
      })
    })
  })

  describe('Predictable Latency Event Aggregate (LID 0Bh, Base 2.3 §5.2.12.1.12)', () => {
    it('begins with the number of identifiers, which follow at byte 8', () => {
      expect([PredictableLatencyEventAggregate.bytes, ...bytesOf(PredictableLatencyEventAggregate)]).toEqual([
        8,
        ['NUMENT', 0, 8],
      ])
      const list = sparse(14, { 0: '03', 8: '0d 00 11 00 1b 00' })
      expect(PredictableLatencyEventAggregate.decode(list)).toEqual({ NUMENT: 3n })
    })
  })
})

describe('log capacity', () => {
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
})

describe('log fdp', () => {
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
      expect([ReclaimUnitHandleUsageHeader.bytes, ...bytesOf(ReclaimUnitHandleUsageHeader)]).toEqual([
        8,
        ['NRUH', 0, 2],
      ])
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
})

describe('log lba status', () => {
  // One namespace, 1, of which LBAs 10 to 1009 and 15,000 to 30,009 should be looked at (the ranges of NVM 1.2 §5.2.1).
  const log = fromHex(`
  40 00 00 00 01 00 00 00  ff ff ff ff 00 00 03 00
  01 00 00 00 02 00 00 00  11 00 00 00 00 00 00 00
  0a 00 00 00 00 00 00 00  e7 03 00 00 00 00 00 00
  98 3a 00 00 00 00 00 00  a1 3a 00 00 00 00 00 00
`)

  describe('LBA Status Information (LID 0Eh, NVM 1.2 §4.1.4.5)', () => {
    it('header, element and range have their fields at the bytes of Figures 109 to 111', () => {
      expect([LbaStatusLogHeader.bytes, ...bytesOf(LbaStatusLogHeader)]).toEqual([
        16,
        ['LSLPLEN', 0, 4],
        ['NLSLNE', 4, 4],
        ['ESTULB', 8, 4],
        ['LSGC', 14, 2],
      ])
      expect([LbaStatusNamespaceElement.bytes, ...bytesOf(LbaStatusNamespaceElement)]).toEqual([
        16,
        ['NEID', 0, 4],
        ['NLRD', 4, 4],
        ['RATYPE', 8, 1],
      ])
      expect(valuesOf(LbaStatusNamespaceElement.fields.RATYPE)).toEqual({ SCAN: 0x10, TRACKED: 0x11 })
      expect([LbaRangeDescriptor.bytes, ...bytesOf(LbaRangeDescriptor)]).toEqual([16, ['RSLBA', 0, 8], ['RNLB', 8, 4]])
    })

    it('decodes a log of one namespace and two ranges', () => {
      expect(LbaStatusLogHeader.decode(log)).toEqual({ LSLPLEN: 64, NLSLNE: 1, ESTULB: 0xffff_ffff, LSGC: 3 })
      expect(LbaStatusNamespaceElement.decode(log, 16)).toEqual({ NEID: 1, NLRD: 2, RATYPE: 0x11 })
      expect(LbaRangeDescriptor.decode(log, 32)).toEqual({ RSLBA: 10, RNLB: 999 })
      const ranges = LbaRangeDescriptor.view(log, 32)
      expect([ranges.at(1).RSLBA, countOf(ranges.RNLB)]).toEqual([15_000, 15_010])
    })
  })
})

describe('log reservation', () => {
  describe('Reservation Notification (LID 80h, Base 2.1 §5.1.12.1.32)', () => {
    it('has its fields at the bytes of Figure 290', () => {
      expect([ReservationNotificationLog.bytes, ...bytesOf(ReservationNotificationLog)]).toEqual([
        64,
        ['LPC', 0, 8],
        ['RNLPT', 8, 1],
        ['NALP', 9, 1],
        ['NSID', 12, 4],
      ])
      expect(valuesOf(ReservationNotificationLog.fields.RNLPT)).toEqual({
        ...{ EMPTY: 0, REGISTRATION_PREEMPTED: 1, RESERVATION_RELEASED: 2, RESERVATION_PREEMPTED: 3 },
      })
    })

    it('decodes a notification, and describes an empty page by no lines', () => {
      const page = sparse(64, { 0: '09 00 00 00 00 00 00 00 02 03', 12: '05' })
      expect(ReservationNotificationLog.decode(page)).toEqual({ LPC: 9n, RNLPT: 2, NALP: 3, NSID: 5 })
      expect(ReservationNotificationLog.describe(page)).toContain('RNLPT=RESERVATION_RELEASED')
      expect(ReservationNotificationLog.describe(sparse(64, {}))).toEqual([])
    })
  })
})

describe('log zones', () => {
  describe('Changed Zone List (LID BFh; libnvme 1.3 nvme_zns_changed_zone_log)', () => {
    it('is a count and 511 zones', () => {
      expect([ChangedZoneList.bytes, ...bytesOf(ChangedZoneList)]).toEqual([4096, ['NRZID', 0, 2], ['ZID', 8, 4088]])
    })

    it('decodes a list of two zones', () => {
      const { NRZID, ZID } = ChangedZoneList.decode(sparse(4096, { 0: '02', 9: '80', 16: '00 00 00 00 01' }))
      expect([NRZID, ZID.length, ZID[0], ZID[1], ZID[510]]).toEqual([2, 511, 32_768n, 4_294_967_296n, 0n])
    })
  })
})
