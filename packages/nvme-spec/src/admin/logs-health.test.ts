import { describe, expect, it } from 'vitest'
import {
  BootPartitionHeader,
  ChangedAllocatedNamespaceList,
  ChangedAttachedNamespaceList,
  CommandEffects,
  CommandEffectsLog,
  ErrorLogEntry,
  FeatureEffects,
  FeatureEffectsLog,
  FirmwareSlotLog,
  LockdownLog,
  ManagementCommandEffects,
  ManagementCommandEffectsLog,
  SanitizeStatusLog,
  SelfTestLog,
  SelfTestResult,
  SmartHealthLog,
  TELEMETRY_BLOCK_BYTES,
  TelemetryControllerHeader,
  TelemetryHostHeader,
} from './logs-health.js'
import { fromHex, sparse } from '../../test/bytes.js'
import { bytesOf, rowsOf, valuesOf } from '../../test/figures.js'

describe('log error', () => {
  // A Read of namespace 1 beyond its end (LBA Out of Range, do not retry), by command 0412h of queue 3; SLBA is at fault.
  const entry = fromHex(`
  05 00 00 00 00 00 00 00  03 00 12 04 01 c1 28 00
  00 10 00 00 00 00 00 00  01 00 00 00 00 00 00 02
  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00
  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 01
`)

  describe('Error Information Log Entry (LID 01h, Base 2.3 §5.2.12.1.2)', () => {
    it('has its fields at the bytes of Figure 209', () => {
      expect([ErrorLogEntry.bytes, ...bytesOf(ErrorLogEntry)]).toEqual([
        64,
        ['ECNT', 0, 8],
        ['SQID', 8, 2],
        ['CID', 10, 2],
        ['STS', 12, 2],
        ['PEL', 14, 2],
        ['LBA', 16, 8],
        ['NSID', 24, 4],
        ['VSIA', 28, 1],
        ['TRTYPE', 29, 1],
        ['CSI', 30, 1],
        ['OPC', 31, 1],
        ['CSINFO', 32, 8],
        ['TTSI', 40, 2],
        ['LPVER', 63, 1],
      ])
    })

    it('STS is a Phase Tag and a Status, PEL a byte and a bit', () => {
      expect(rowsOf({ fields: ErrorLogEntry.fields.STS.rows })).toEqual([
        ['P', 0, 0],
        ['SC', 8, 1],
        ['SCT', 11, 9],
        ['CRD', 13, 12],
        ['M', 14, 14],
        ['DNR', 15, 15],
      ])
      expect(rowsOf({ fields: ErrorLogEntry.fields.PEL.rows })).toEqual([
        ['BYTLOC', 7, 0],
        ['BITLOC', 10, 8],
      ])
      expect(valuesOf(ErrorLogEntry.fields.TRTYPE)).toEqual({ NONE: 0, RDMA: 1, FC: 2, TCP: 3 })
      expect(valuesOf(ErrorLogEntry.fields.CSI)).toEqual({ NVM: 0, KV: 1, ZNS: 2, SLM: 3, CP: 4 })
    })

    it('decodes an entry', () => {
      expect(ErrorLogEntry.decode(entry)).toEqual({
        ...{ ECNT: 5n, SQID: 3, CID: 0x412 },
        STS: { P: 1, SC: 0x80, SCT: 0, CRD: 0, M: 1, DNR: 1 },
        PEL: { BYTLOC: 40, BITLOC: 0 },
        ...{ LBA: 4096n, NSID: 1, VSIA: 0, TRTYPE: 0, CSI: 0, OPC: 2, CSINFO: 0n, TTSI: 0, LPVER: 1 },
      })
    })

    it('describes an entry', () => {
      expect(ErrorLogEntry.describe(entry)).toEqual([
        'ECNT=5',
        'SQID=3',
        'CID=0x0412',
        'STS={ P=1 SC=0x80 SCT=0 CRD=0 M=1 DNR=1 }',
        'PEL={ BYTLOC=40 BITLOC=0 }',
        'LBA=4096',
        'NSID=1',
        'OPC=0x02',
        'LPVER=1',
      ])
    })

    it('decodes FFFFh in PEL without losing a bit', () => {
      const data = new DataView(entry.buffer.slice(0))
      data.setUint16(14, 0xffff, true)
      expect(ErrorLogEntry.decode(data).PEL).toEqual({ BYTLOC: 0xff, BITLOC: 7, reserved: 0xf800 })
    })
  })
})

describe('log smart', () => {
  /** A page as a healthy drive of two sensors returns it, and one warning; the rest is zero. */
  function page(): DataView {
    const data = new DataView(new ArrayBuffer(512))
    const put = (at: number, ...values: number[]) => {
      new Uint8Array(data.buffer).set(values, at)
    }
    put(0, 0x22, 0x2d, 0x01, 100, 10, 3, 0x09)
    put(32, 0x40, 0xe2, 0x01)
    put(48, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
    put(64, 0, 0, 0, 0, 0, 0, 0, 0, 0x01)
    put(128, 0x39, 0x30)
    put(144, 0x07)
    put(192, 0x05)
    put(196, 0, 0, 0, 0x80)
    put(200, 0x2d, 0x01, 0x41, 0x01)
    put(228, 0x10, 0x27)
    return data
  }

  describe('SMART / Health Information (LID 02h, Base 2.1 §5.1.12.1.3)', () => {
    it('is 512 bytes', () => {
      expect(SmartHealthLog.bytes).toBe(512)
    })

    it('has its fields at the bytes of Figure 206', () => {
      expect(bytesOf(SmartHealthLog)).toEqual([
        ['CW', 0, 1],
        ['CTEMP', 1, 2],
        ['AVSP', 3, 1],
        ['AVSPT', 4, 1],
        ['PUSED', 5, 1],
        ['EGCWS', 6, 1],
        ['DUR', 32, 16],
        ['DUW', 48, 16],
        ['HRC', 64, 16],
        ['HWC', 80, 16],
        ['CBT', 96, 16],
        ['PWRC', 112, 16],
        ['POH', 128, 16],
        ['UPL', 144, 16],
        ['MDIE', 160, 16],
        ['NEILE', 176, 16],
        ['WCTT', 192, 4],
        ['CCTT', 196, 4],
        ['TSEN1', 200, 2],
        ['TSEN2', 202, 2],
        ['TSEN3', 204, 2],
        ['TSEN4', 206, 2],
        ['TSEN5', 208, 2],
        ['TSEN6', 210, 2],
        ['TSEN7', 212, 2],
        ['TSEN8', 214, 2],
        ['TMT1TC', 216, 4],
        ['TMT2TC', 220, 4],
        ['TTTMT1', 224, 4],
        ['TTTMT2', 228, 4],
      ])
    })

    it('CW and EGCWS have the bits of Figure 206', () => {
      expect(rowsOf({ fields: SmartHealthLog.fields.CW.rows })).toEqual([
        ['ASCBT', 0, 0],
        ['TTC', 1, 1],
        ['NDR', 2, 2],
        ['AMRO', 3, 3],
        ['VMBF', 4, 4],
        ['PMRRO', 5, 5],
      ])
      expect(rowsOf({ fields: SmartHealthLog.fields.EGCWS.rows })).toEqual([
        ['EGASCBT', 0, 0],
        ['EGDR', 2, 2],
        ['EGRO', 3, 3],
      ])
    })

    it('decodes a page', () => {
      const decoded = SmartHealthLog.decode(page())
      expect(decoded).toMatchObject({
        CW: { ASCBT: 0, TTC: 1, NDR: 0, AMRO: 0, VMBF: 0, PMRRO: 1 },
        ...{ CTEMP: 301, AVSP: 100, AVSPT: 10, PUSED: 3 },
        EGCWS: { EGASCBT: 1, EGDR: 0, EGRO: 1 },
        ...{
          DUR: 123_456n,
          DUW: 340_282_366_920_938_463_463_374_607_431_768_211_455n,
          HRC: 18_446_744_073_709_551_616n,
        },
        ...{ HWC: 0n, CBT: 0n, PWRC: 0n, POH: 12_345n, UPL: 7n, MDIE: 0n, NEILE: 0n, WCTT: 5, CCTT: 2_147_483_648 },
        ...{ TSEN1: 301, TSEN2: 321, TSEN3: 0, TSEN8: 0, TMT1TC: 0, TMT2TC: 0, TTTMT1: 0, TTTMT2: 10_000 },
      })
      expect(decoded.reserved).toBeUndefined()
    })

    it('describes a page: warnings by name, zero fields omitted', () => {
      expect(SmartHealthLog.describe(page())).toEqual([
        'CW={ ASCBT=0 TTC=1 NDR=0 AMRO=0 VMBF=0 PMRRO=1 }',
        'CTEMP=301',
        'AVSP=100',
        'AVSPT=10',
        'PUSED=3',
        'EGCWS={ EGASCBT=1 EGDR=0 EGRO=1 }',
        'DUR=123456',
        'DUW=340282366920938463463374607431768211455',
        'HRC=18446744073709551616',
        'POH=12345',
        'UPL=7',
        'WCTT=5',
        'CCTT=2147483648',
        'TSEN1=301',
        'TSEN2=321',
        'TTTMT2=10000',
      ])
    })

    it('keeps reserved bytes and bits that are set', () => {
      const data = page()
      data.setUint8(511, 0xa5)
      data.setUint8(0, 0x80)
      const again = new DataView(new ArrayBuffer(512))
      SmartHealthLog.encode(again, 0, SmartHealthLog.decode(data))
      expect([again.getUint8(511), again.getUint8(0)]).toEqual([0xa5, 0x80])
      expect(SmartHealthLog.decode(data).CW).toMatchObject({ TTC: 0, reserved: 0x80 })
    })
  })
})

describe('log firmware', () => {
  describe('Firmware Slot Information (LID 03h, Base 2.3 §5.2.12.1.4)', () => {
    it('has a byte of slots and seven revisions', () => {
      expect([FirmwareSlotLog.bytes, ...bytesOf(FirmwareSlotLog)]).toEqual([
        512,
        ['AFI', 0, 1],
        ['FRS1', 8, 8],
        ['FRS2', 16, 8],
        ['FRS3', 24, 8],
        ['FRS4', 32, 8],
        ['FRS5', 40, 8],
        ['FRS6', 48, 8],
        ['FRS7', 56, 8],
      ])
      expect(rowsOf({ fields: FirmwareSlotLog.fields.AFI.rows })).toEqual([
        ['CAFS', 2, 0],
        ['NAFS', 6, 4],
      ])
    })

    it('decodes a page: slot 1 runs, slot 3 is next, slot 2 is empty', () => {
      const page = sparse(512, { 0: '31', 8: '31 2e 30 20 20 20 20 20', 24: '4e 38 32 30 4b 36 5a 32' })
      expect(FirmwareSlotLog.decode(page)).toEqual({
        AFI: { CAFS: 1, NAFS: 3 },
        ...{ FRS1: '1.0', FRS2: '', FRS3: 'N820K6Z2', FRS4: '', FRS5: '', FRS6: '', FRS7: '' },
      })
      expect(FirmwareSlotLog.describe(page)).toEqual(['AFI={ CAFS=1 NAFS=3 }', 'FRS1="1.0"', 'FRS3="N820K6Z2"'])
    })
  })
})

describe('log namespaces', () => {
  describe.each([
    ['Changed Attached Namespace List (LID 04h, Base 2.3 §5.2.12.1.5)', ChangedAttachedNamespaceList],
    ['Changed Allocated Namespace List (LID 1Ch, Base 2.3 §5.2.12.1.27)', ChangedAllocatedNamespaceList],
  ])('%s', (_title, list) => {
    it('is up to 1,024 identifiers of 32 bits', () => {
      expect([list.bytes, ...bytesOf(list)]).toEqual([4096, ['NSID', 0, 4096]])
      const { NSID } = list.decode(sparse(4096, { 0: '01 00 00 00 04 03 02 01', 4092: 'fe ff ff ff' }))
      expect([NSID.length, NSID[0], NSID[1], NSID[2], NSID[1023]]).toEqual([1024, 1, 0x0102_0304, 0, 0xffff_fffe])
    })

    it('begins with FFFFFFFFh if more namespaces changed', () => {
      expect(list.view(sparse(4096, { 0: 'ff ff ff ff' })).NSID[0]).toBe(0xffff_ffff)
    })
  })
})

describe('log effects', () => {
  // Bits 31:20 are CSP or FSP in the figures, whose bit 0 is bit 20 of the word.
  const scopes = [
    ['NSCPE', 20, 20],
    ['CSCPE', 21, 21],
    ['NSETSCPE', 22, 22],
    ['EGSCPE', 23, 23],
    ['DSCPE', 24, 24],
    ['NSSCPE', 25, 25],
  ]

  describe('Commands Supported and Effects (LID 05h, Base 2.3 §5.2.12.1.6)', () => {
    it('the rows of CommandEffects are those of Figure 214', () => {
      expect(rowsOf(CommandEffects)).toEqual([
        ['CSUPP', 0, 0],
        ['LBCC', 1, 1],
        ['NCC', 2, 2],
        ['NIC', 3, 3],
        ['CCC', 4, 4],
        ['CSER', 15, 14],
        ['CSE', 18, 16],
        ['USS', 19, 19],
        ...scopes,
      ])
      expect(valuesOf(CommandEffects.fields.CSE)).toEqual({
        NO_RESTRICTION: 0,
        ALONE_ON_NAMESPACE: 1,
        ALONE_ON_ANY_NAMESPACE: 2,
      })
      expect(valuesOf(CommandEffects.fields.CSER)).toEqual({ NONE: 0, NO_OTHER_ADMIN_COMMAND: 1 })
    })

    it.each([
      ['CSUPP', 0x0000_0001, 1],
      ['LBCC', 0x0000_0002, 1],
      ['NCC', 0x0000_0004, 1],
      ['NIC', 0x0000_0008, 1],
      ['CCC', 0x0000_0010, 1],
      ['CSER', 0x0000_c000, 3],
      ['CSE', 0x0007_0000, 7],
      ['USS', 0x0008_0000, 1],
      ['NSSCPE', 0x0200_0000, 1],
    ] as const)('%s has the mask %i', (row, word, value) => {
      expect(CommandEffects[row].of(word)).toBe(value)
      expect(CommandEffects[row].of(~word >>> 0)).toBe(0)
    })

    it('is a word for each Admin opcode, then one for each I/O opcode', () => {
      expect([CommandEffectsLog.bytes, ...bytesOf(CommandEffectsLog)]).toEqual([
        4096,
        ['ACS', 0, 1024],
        ['IOCS', 1024, 1024],
      ])
    })

    it('decodes the effects of Format NVM and Write', () => {
      const page = sparse(4096, { 0x200: '0f 40 02 02', 0x404: '03 00 10 00' })
      const { ACS, IOCS } = CommandEffectsLog.decode(page)
      expect(ACS[0x80]).toEqual({
        ...{ CSUPP: 1, LBCC: 1, NCC: 1, NIC: 1, CCC: 0, CSER: 1, CSE: 2, USS: 0 },
        ...{ NSCPE: 0, CSCPE: 0, NSETSCPE: 0, EGSCPE: 0, DSCPE: 0, NSSCPE: 1 },
      })
      expect(IOCS[0x01]).toMatchObject({ CSUPP: 1, LBCC: 1, NCC: 0, NSCPE: 1, NSSCPE: 0 })
      expect(IOCS[0x02]).toMatchObject({ CSUPP: 0, LBCC: 0 })
      expect(CommandEffects.describe(0x0202_400f)).toBe(
        'CSUPP=1 LBCC=1 NCC=1 NIC=1 CCC=0 CSER=NO_OTHER_ADMIN_COMMAND CSE=ALONE_ON_ANY_NAMESPACE USS=0 ' +
          'NSCPE=0 CSCPE=0 NSETSCPE=0 EGSCPE=0 DSCPE=0 NSSCPE=1',
      )
    })
  })

  describe('Feature Identifiers Supported and Effects (LID 12h, Base 2.1 §5.1.12.1.18)', () => {
    it('the rows of FeatureEffects are those of Figure 262', () => {
      expect(rowsOf(FeatureEffects)).toEqual([
        ['FSUPP', 0, 0],
        ['UDCC', 1, 1],
        ['NCC', 2, 2],
        ['NIC', 3, 3],
        ['CCC', 4, 4],
        ['USS', 19, 19],
        ...scopes,
        ['CDQSCP', 26, 26],
      ])
    })

    it('the word of a feature is at four times its identifier', () => {
      expect([FeatureEffectsLog.bytes, ...bytesOf(FeatureEffectsLog)]).toEqual([1024, ['FIS', 0, 1024]])
      const { FIS } = FeatureEffectsLog.decode(sparse(1024, { 28: '01 00 20 00', 0x84: '13 00 08 04' }))
      expect(FIS[0x07]).toEqual({
        ...{ FSUPP: 1, UDCC: 0, NCC: 0, NIC: 0, CCC: 0, USS: 0 },
        ...{ NSCPE: 0, CSCPE: 1, NSETSCPE: 0, EGSCPE: 0, DSCPE: 0, NSSCPE: 0, CDQSCP: 0 },
      })
      expect(FIS[0x21]).toMatchObject({ FSUPP: 1, UDCC: 1, NCC: 0, CCC: 1, USS: 1, CDQSCP: 1, NSSCPE: 0 })
    })
  })

  describe('NVMe-MI Commands Supported and Effects (LID 13h, Base 2.1 §5.1.12.1.19)', () => {
    it('the rows of ManagementCommandEffects are those of Base 2.3 Figure 269', () => {
      expect(rowsOf(ManagementCommandEffects)).toEqual([
        ['CSUPP', 0, 0],
        ['UDCC', 1, 1],
        ['NCC', 2, 2],
        ['NIC', 3, 3],
        ['CCC', 4, 4],
        ...scopes,
      ])
    })

    it('the word of a command is at four times its opcode; the upper three quarters are reserved', () => {
      expect([ManagementCommandEffectsLog.bytes, ...bytesOf(ManagementCommandEffectsLog)]).toEqual([
        4096,
        ['MICS', 0, 1024],
      ])
      const page = sparse(4096, { 1020: '09 00 00 02' })
      expect(ManagementCommandEffectsLog.describe(page)).toEqual([
        'MICS[255]={ CSUPP=1 UDCC=0 NCC=0 NIC=1 CCC=0 NSCPE=0 CSCPE=0 NSETSCPE=0 EGSCPE=0 DSCPE=0 NSSCPE=1 }',
      ])
    })
  })
})

describe('log self test', () => {
  // An extended test failed in segment 4 at LBA 10h of namespace 1, an Unrecovered Read Error (2h/81h).
  const failed = '27 04 0f 00  e8 03 00 00 00 00 00 00  01 00 00 00  10 00 00 00 00 00 00 00  02 81 34 12'

  describe('Self-test Result (Base 2.3 §5.2.12.1.7; libnvme 1.3 nvme_st_result)', () => {
    it('has its fields at the bytes of Figure 216', () => {
      expect([SelfTestResult.bytes, ...bytesOf(SelfTestResult)]).toEqual([
        28,
        ['DSTS', 0, 1],
        ['SEGN', 1, 1],
        ['VDINFO', 2, 1],
        ['POH', 4, 8],
        ['NSID', 12, 4],
        ['FLBA', 16, 8],
        ['STCT', 24, 1],
        ['STC', 25, 1],
        ['VS', 26, 2],
      ])
    })

    it('has the rows and values of Figure 216', () => {
      const { DSTS, VDINFO, STCT } = SelfTestResult.fields
      expect(rowsOf({ fields: DSTS.rows })).toEqual([
        ['DSTR', 3, 0],
        ['DSTC', 7, 4],
      ])
      expect(valuesOf(DSTS.rows.DSTR)).toEqual({
        ...{ COMPLETED: 0, ABORTED_BY_COMMAND: 1, ABORTED_BY_RESET: 2, ABORTED_BY_NAMESPACE_REMOVAL: 3 },
        ...{ ABORTED_BY_FORMAT: 4, FATAL_ERROR: 5, UNKNOWN_SEGMENT_FAILED: 6, SEGMENT_FAILED: 7 },
        ...{ ABORTED_UNKNOWN: 8, ABORTED_BY_SANITIZE: 9, EMPTY: 15 },
      })
      expect(valuesOf(DSTS.rows.DSTC)).toEqual({
        ...{ EMPTY: 0, SHORT: 1, EXTENDED: 2, HOST_INITIATED_REFRESH: 3, VENDOR_SPECIFIC: 14 },
      })
      expect(rowsOf({ fields: VDINFO.rows })).toEqual([
        ['NSIDVLD', 0, 0],
        ['FVLD', 1, 1],
        ['SCTVLD', 2, 2],
        ['SCVLD', 3, 3],
      ])
      expect(rowsOf({ fields: STCT.rows })).toEqual([['ASTCI', 2, 0]])
    })

    it('decodes and describes a test that failed', () => {
      expect(SelfTestResult.decode(fromHex(failed))).toEqual({
        DSTS: { DSTR: 7, DSTC: 2 },
        SEGN: 4,
        VDINFO: { NSIDVLD: 1, FVLD: 1, SCTVLD: 1, SCVLD: 1 },
        ...{ POH: 1000n, NSID: 1, FLBA: 16n, STCT: { ASTCI: 2 }, STC: 0x81, VS: 0x1234 },
      })
      expect(SelfTestResult.describe(fromHex(failed))).toEqual([
        'DSTS={ DSTR=SEGMENT_FAILED DSTC=EXTENDED }',
        'SEGN=4',
        'VDINFO={ NSIDVLD=1 FVLD=1 SCTVLD=1 SCVLD=1 }',
        'POH=1000',
        'NSID=1',
        'FLBA=16',
        'STCT={ ASTCI=2 }',
        'STC=0x81',
        'VS=0x1234',
      ])
    })
  })

  describe('Device Self-test (LID 06h, Base 2.3 §5.2.12.1.7)', () => {
    it('is the current test and twenty results', () => {
      expect([SelfTestLog.bytes, ...bytesOf(SelfTestLog)]).toEqual([
        564,
        ['CDSTO', 0, 1],
        ['CDSTC', 1, 1],
        ['RDS', 4, 560],
      ])
      expect(rowsOf({ fields: SelfTestLog.fields.CDSTO.rows })).toEqual([['DSTOS', 3, 0]])
      expect(rowsOf({ fields: SelfTestLog.fields.CDSTC.rows })).toEqual([['DSTCS', 6, 0]])
      expect(valuesOf(SelfTestLog.fields.CDSTO.rows.DSTOS)).toEqual({
        ...{ NONE: 0, SHORT: 1, EXTENDED: 2, HOST_INITIATED_REFRESH: 3, VENDOR_SPECIFIC: 14 },
      })
    })

    it('the newest result begins at byte 4, the twentieth at byte 536', () => {
      const page = sparse(564, { 0: '01 19', 4: failed, 536: '0f' })
      const { CDSTO, CDSTC, RDS } = SelfTestLog.decode(page)
      expect([CDSTO, CDSTC, RDS.length]).toEqual([{ DSTOS: 1 }, { DSTCS: 25 }, 20])
      expect([RDS[0]?.SEGN, RDS[1]?.SEGN, RDS[19]?.DSTS]).toEqual([4, 0, { DSTR: 15, DSTC: 0 }])
      expect(SelfTestLog.view(page).RDS.at(19).DSTS).toBe(0x0f)
    })
  })
})

describe('log telemetry', () => {
  const scopes = { NOT_REPORTED: 0, CONTROLLER: 1, NVM_SUBSYSTEM: 2 }
  const dump = { 5: '44 1b 00 01 00 02 01 ff ff', 16: '00 00 01 00', 384: 'aa', 511: 'bb' }

  describe('Telemetry Host-Initiated (LID 07h, Base 2.1 §5.1.12.1.8)', () => {
    it('begins as in Figure 214', () => {
      expect([TelemetryHostHeader.bytes, TELEMETRY_BLOCK_BYTES, ...bytesOf(TelemetryHostHeader)]).toEqual([
        512,
        512,
        ['LID', 0, 1],
        ['IEEE', 5, 3],
        ['THDA1LB', 8, 2],
        ['THDA2LB', 10, 2],
        ['THDA3LB', 12, 2],
        ['THDA4LB', 16, 4],
        ['THS', 380, 1],
        ['THDGN', 381, 1],
        ['TCDA', 382, 1],
        ['TCDGN', 383, 1],
        ['RID', 384, 128],
      ])
      expect(valuesOf(TelemetryHostHeader.fields.THS)).toEqual(scopes)
    })

    it('decodes a header', () => {
      const decoded = TelemetryHostHeader.decode(sparse(512, { ...dump, 0: '07', 380: '02 ff 01 03' }))
      expect(decoded).toMatchObject({
        ...{ LID: 7, IEEE: Uint8Array.of(0x44, 0x1b, 0x00), THDA1LB: 1, THDA2LB: 258, THDA3LB: 65_535 },
        ...{ THDA4LB: 65_536, THS: 2, THDGN: 255, TCDA: 1, TCDGN: 3 },
      })
      expect([decoded.RID[0], decoded.RID[1], decoded.RID[127]]).toEqual([0xaa, 0, 0xbb])
    })
  })

  describe('Telemetry Controller-Initiated (LID 08h, Base 2.1 §5.1.12.1.9)', () => {
    it('begins as in Figure 216', () => {
      expect([TelemetryControllerHeader.bytes, ...bytesOf(TelemetryControllerHeader)]).toEqual([
        512,
        ['LID', 0, 1],
        ['IEEE', 5, 3],
        ['TCDA1LB', 8, 2],
        ['TCDA2LB', 10, 2],
        ['TCDA3LB', 12, 2],
        ['TCDA4LB', 16, 4],
        ['TCS', 381, 1],
        ['TCDA', 382, 1],
        ['TCDGN', 383, 1],
        ['RID', 384, 128],
      ])
      expect(valuesOf(TelemetryControllerHeader.fields.TCS)).toEqual(scopes)
    })

    it('decodes a header', () => {
      const page = sparse(512, { ...dump, 0: '08', 381: '01 01 2a' })
      expect(TelemetryControllerHeader.decode(page)).toMatchObject({
        ...{ LID: 8, TCDA1LB: 1, TCDA2LB: 258, TCDA3LB: 65_535, TCDA4LB: 65_536, TCS: 1, TCDA: 1, TCDGN: 42 },
      })
      expect(TelemetryControllerHeader.describe(page)).toContain('TCS=CONTROLLER')
    })
  })
})

describe('log sanitize', () => {
  // An Overwrite, after its second pass and half of the way.
  const page = sparse(512, {
    ...{ 0: '00 80 12 00 23 05 00 00 10 0e 00 00 3c 00 00 00 ff ff ff ff', 20: '01', 24: '02', 28: '03' },
    ...{ 32: '04 00 00 00 21' },
  })

  describe('Sanitize Status (LID 81h, Base 2.1 §5.1.12.1.33)', () => {
    it('has its fields at the bytes of Figure 291', () => {
      expect([SanitizeStatusLog.bytes, ...bytesOf(SanitizeStatusLog)]).toEqual([
        512,
        ['SPROG', 0, 2],
        ['SSTAT', 2, 2],
        ['SCDW10', 4, 4],
        ['ETO', 8, 4],
        ['ETBE', 12, 4],
        ['ETCE', 16, 4],
        ['ETODMM', 20, 4],
        ['ETBENMM', 24, 4],
        ['ETCENMM', 28, 4],
        ['ETPVDS', 32, 4],
        ['SSI', 36, 1],
      ])
    })

    it('has the rows and values of Figure 291', () => {
      const { SSTAT, SSI } = SanitizeStatusLog.fields
      expect(rowsOf({ fields: SSTAT.rows })).toEqual([
        ['SOS', 2, 0],
        ['OPC', 7, 3],
        ['GDE', 8, 8],
        ['MVCNCLD', 9, 9],
      ])
      expect(valuesOf(SSTAT.rows.SOS)).toEqual({
        ...{ NEVER_STARTED: 0, SANITIZED: 1, SANITIZING: 2, FAILED: 3, SANITIZED_UNEXPECTED_DEALLOCATE: 4 },
      })
      expect(rowsOf({ fields: SSI.rows })).toEqual([
        ['SANS', 3, 0],
        ['FAILS', 7, 4],
      ])
      const states = {
        ...{ IDLE: 0, RESTRICTED_PROCESSING: 1, RESTRICTED_FAILURE: 2, UNRESTRICTED_PROCESSING: 3 },
        ...{ UNRESTRICTED_FAILURE: 4, MEDIA_VERIFICATION: 5, POST_VERIFICATION_DEALLOCATION: 6 },
      }
      expect([valuesOf(SSI.rows.SANS), valuesOf(SSI.rows.FAILS)]).toEqual([states, states])
    })

    it('decodes and describes a page', () => {
      expect(SanitizeStatusLog.decode(page)).toEqual({
        SPROG: 32_768,
        SSTAT: { SOS: 2, OPC: 2, GDE: 0, MVCNCLD: 0 },
        ...{ SCDW10: 0x523, ETO: 3600, ETBE: 60, ETCE: 0xffff_ffff, ETODMM: 1, ETBENMM: 2, ETCENMM: 3, ETPVDS: 4 },
        SSI: { SANS: 1, FAILS: 2 },
      })
      expect(SanitizeStatusLog.describe(page)).toEqual([
        'SPROG=32768',
        'SSTAT={ SOS=SANITIZING OPC=2 GDE=0 MVCNCLD=0 }',
        'SCDW10=0x00000523',
        'ETO=3600',
        'ETBE=60',
        'ETCE=4294967295',
        'ETODMM=1',
        'ETBENMM=2',
        'ETCENMM=3',
        'ETPVDS=4',
        'SSI={ SANS=RESTRICTED_PROCESSING FAILS=RESTRICTED_FAILURE }',
      ])
    })
  })
})

describe('log lockdown', () => {
  describe('Command and Feature Lockdown (LID 14h, Base 2.1 §5.1.12.1.20)', () => {
    it('has the fields, rows and values of Figure 266', () => {
      expect([LockdownLog.bytes, ...bytesOf(LockdownLog)]).toEqual([
        512,
        ['CFILA', 0, 1],
        ['LNGTH', 3, 1],
        ['CFIL', 4, 508],
      ])
      const { rows } = LockdownLog.fields.CFILA
      expect(rowsOf({ fields: rows })).toEqual([
        ['SS', 3, 0],
        ['CS', 5, 4],
      ])
      expect(valuesOf(rows.SS)).toEqual({ ADMIN_OPCODE: 0, FEATURE: 2, MANAGEMENT_OPCODE: 3, PCIE_OPCODE: 4 })
      expect(valuesOf(rows.CS)).toEqual({ CAN_BE_PROHIBITED: 0, PROHIBITED: 1, PROHIBITED_OUT_OF_BAND: 2 })
    })

    it('decodes a list of two prohibited features', () => {
      const { CFILA, LNGTH, CFIL } = LockdownLog.decode(sparse(512, { 0: '12', 3: '02 05 17' }))
      expect([CFILA, LNGTH, [...CFIL.subarray(0, LNGTH)]]).toEqual([{ SS: 2, CS: 1 }, 2, [0x05, 0x17]])
    })
  })
})

describe('log boot partition', () => {
  describe('Boot Partition (LID 15h, Base 2.3 §5.2.12.1.21; libnvme 1.3 nvme_boot_partition)', () => {
    it('begins with the fields of Figure 273', () => {
      expect([BootPartitionHeader.bytes, ...bytesOf(BootPartitionHeader)]).toEqual([
        16,
        ['LID', 0, 1],
        ['BPINFO', 4, 4],
      ])
      expect(rowsOf({ fields: BootPartitionHeader.fields.BPINFO.rows })).toEqual([
        ['BPSZ', 14, 0],
        ['ABPID', 31, 31],
      ])
    })

    it('decodes a header: 1 MiB, partition 1 is active', () => {
      expect(BootPartitionHeader.decode(fromHex('15 00 00 00 08 00 00 80 00 00 00 00 00 00 00 00'))).toEqual({
        LID: 0x15,
        BPINFO: { BPSZ: 8, ABPID: 1 },
      })
    })
  })
})
