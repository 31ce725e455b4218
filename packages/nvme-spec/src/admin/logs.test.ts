import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  AnaLsp,
  BootPartitionLsp,
  FdpEventsLsp,
  GetLogPage,
  LID,
  LockdownLsp,
  logPagePart,
  LogPageSupport,
  PersistentEventLidsp,
  PersistentEventLsp,
  ReachabilityAssociationsLsp,
  ReachabilityGroupsLsp,
  SupportedLogPages,
  TelemetryHostLidsp,
  TelemetryHostLsp,
} from './logs.js'
import { sparse } from '../../test/bytes.js'
import { bytesOf, dwordsOf, rowsOf, valuesOf } from '../../test/figures.js'

describe('log identifiers', () => {
  describe('Log Page Identifiers (Base 2.1 §5.1.12, Figure 202)', () => {
    it('LID has the numbers of the figure', () => {
      expect(LID.values).toEqual({
        ...{ SUPPORTED_LOG_PAGES: 0x00, ERROR_INFORMATION: 0x01, SMART_HEALTH_INFORMATION: 0x02 },
        ...{ FIRMWARE_SLOT_INFORMATION: 0x03, CHANGED_ATTACHED_NAMESPACE_LIST: 0x04 },
        ...{ COMMANDS_SUPPORTED_AND_EFFECTS: 0x05, DEVICE_SELF_TEST: 0x06, TELEMETRY_HOST_INITIATED: 0x07 },
        ...{ TELEMETRY_CONTROLLER_INITIATED: 0x08, ENDURANCE_GROUP_INFORMATION: 0x09 },
        ...{ PREDICTABLE_LATENCY_PER_NVM_SET: 0x0a, PREDICTABLE_LATENCY_EVENT_AGGREGATE: 0x0b },
        ...{ ASYMMETRIC_NAMESPACE_ACCESS: 0x0c, PERSISTENT_EVENT_LOG: 0x0d, LBA_STATUS_INFORMATION: 0x0e },
        ...{ ENDURANCE_GROUP_EVENT_AGGREGATE: 0x0f, MEDIA_UNIT_STATUS: 0x10 },
        ...{ SUPPORTED_CAPACITY_CONFIGURATION_LIST: 0x11, FEATURE_IDENTIFIERS_SUPPORTED_AND_EFFECTS: 0x12 },
        ...{ NVME_MI_COMMANDS_SUPPORTED_AND_EFFECTS: 0x13, COMMAND_AND_FEATURE_LOCKDOWN: 0x14, BOOT_PARTITION: 0x15 },
        ...{ ROTATIONAL_MEDIA_INFORMATION: 0x16, DISPERSED_NAMESPACE_PARTICIPATING_NVM_SUBSYSTEMS: 0x17 },
        // PCIe 1.2 §3.9.1.1
        PHYSICAL_INTERFACE_RECEIVER_EYE_OPENING_MEASUREMENT: 0x19,
        ...{ MANAGEMENT_ADDRESS_LIST: 0x18, REACHABILITY_GROUPS: 0x1a, REACHABILITY_ASSOCIATIONS: 0x1b },
        ...{ CHANGED_ALLOCATED_NAMESPACE_LIST: 0x1c, FDP_CONFIGURATIONS: 0x20, RECLAIM_UNIT_HANDLE_USAGE: 0x21 },
        ...{ FDP_STATISTICS: 0x22, FDP_EVENTS: 0x23, DISCOVERY: 0x70, HOST_DISCOVERY: 0x71, AVE_DISCOVERY: 0x72 },
        ...{ PULL_MODEL_DDC_REQUEST: 0x73, RESERVATION_NOTIFICATION: 0x80, SANITIZE_STATUS: 0x81 },
        CHANGED_ZONE_LIST: 0xbf,
      })
    })

    it('a vendor specific log page is named by its number', () => {
      expect([LID.nameOf(2), LID.nameOf(0xca)]).toEqual(['SMART_HEALTH_INFORMATION', '0xca'])
    })
  })
})

describe('get log page', () => {
  describe('Get Log Page (Base 2.1 §5.1.12, Figures 197 to 201)', () => {
    it.each([
      ['LID', 0xff, [0x0000_00ff, 0, 0, 0, 0, 0]],
      ['LSP', 0x7f, [0x0000_7f00, 0, 0, 0, 0, 0]],
      ['RAE', 1, [0x0000_8000, 0, 0, 0, 0, 0]],
      ['NUMDL', 0xffff, [0xffff_0000, 0, 0, 0, 0, 0]],
      ['NUMDU', 0xffff, [0, 0x0000_ffff, 0, 0, 0, 0]],
      ['LSI', 0xffff, [0, 0xffff_0000, 0, 0, 0, 0]],
      ['LPOL', 0xffff_ffff, [0, 0, 0xffff_ffff, 0, 0, 0]],
      ['LPOU', 0xffff_ffff, [0, 0, 0, 0xffff_ffff, 0, 0]],
      ['UIDX', 0x7f, [0, 0, 0, 0, 0x0000_007f, 0]],
      ['OT', 1, [0, 0, 0, 0, 0x0080_0000, 0]],
      ['CSI', 0xff, [0, 0, 0, 0, 0xff00_0000, 0]],
    ])('%s is at the bits of its figure', (symbol, value, dwords) => {
      expect(dwordsOf(GetLogPage, { [symbol]: value })).toEqual(dwords)
    })
  })

  describe('logPagePart', () => {
    it("splits a 0's based count of dwords over NUMDU and NUMDL, and an offset over LPOU and LPOL", () => {
      expect(logPagePart(128)).toEqual({ NUMDL: 127, NUMDU: 0, LPOL: 0, LPOU: 0, OT: 0 })
      expect(logPagePart(0x1_2346, 0x5_0000_0008)).toEqual({ NUMDL: 0x2345, NUMDU: 1, LPOL: 8, LPOU: 5, OT: 0 })
      expect(logPagePart(2 ** 32, 0xffff_ffff_ffff_fffcn)).toEqual({
        ...{ NUMDL: 0xffff, NUMDU: 0xffff, LPOL: 0xffff_fffc, LPOU: 0xffff_ffff, OT: 0 },
      })
    })

    it('accepts an index that is not a multiple of 4, and sets OT', () => {
      expect(logPagePart(1, 3, 'index')).toEqual({ NUMDL: 0, NUMDU: 0, LPOL: 3, LPOU: 0, OT: 1 })
    })

    it.each([
      [0, 0, 'Get Log Page.NUMD (Number of Dwords): expected an integer from 1 to 4294967296, got 0'],
      [2 ** 32 + 1, 0, 'Get Log Page.NUMD'],
      [1.5, 0, 'Get Log Page.NUMD'],
      [Number.NaN, 0, 'Get Log Page.NUMD'],
      [1, -4, 'Get Log Page.LPO (Log Page Offset): expected a safe integer or a bigint from 0 to 2^64 - 1, got -4'],
      [1, 0.5, 'Get Log Page.LPO'],
      [1, 2 ** 60, 'Get Log Page.LPO'],
      [1, 1n << 64n, 'Get Log Page.LPO'],
      [1, -1n, 'Get Log Page.LPO'],
      [1, 6, 'Get Log Page.LPO (Log Page Offset): expected a multiple of 4 bytes, got 6 (Base 2.1 §5.1.12)'],
    ])('rejects %s dwords at offset %s', (dwords, offset, message) => {
      expect(() => logPagePart(dwords, offset)).toThrow(RangeError)
      expect(() => logPagePart(dwords, offset)).toThrow(message)
    })

    it('rejects a value that is not a number with a TypeError', () => {
      expect(() => logPagePart('1' as never)).toThrow(TypeError)
      expect(() => logPagePart(1, '0' as never)).toThrow(TypeError)
    })

    it("accepts only 'bytes' and 'index' as the unit of the offset", () => {
      expect(() => logPagePart(1, 2, 'idx' as never)).toThrow(
        new RangeError(`Get Log Page.OT (Offset Type): expected 'bytes' or 'index', got "idx" (Base 2.1 §5.1.12)`),
      )
      expect(() => logPagePart(1, 2, null as never)).toThrow(TypeError)
    })

    it('keeps every bit of any count and offset', () => {
      fc.assert(
        fc.property(fc.integer({ min: 1, max: 2 ** 32 }), fc.bigInt(0n, (1n << 64n) - 1n), (dwords, index) => {
          const { NUMDL, NUMDU, LPOL, LPOU } = logPagePart(dwords, index, 'index')
          expect(NUMDU * 65_536 + NUMDL + 1).toBe(dwords)
          expect((BigInt(LPOU) << 32n) + BigInt(LPOL)).toBe(index)
          expect(() => dwordsOf(GetLogPage, { NUMDL, NUMDU, LPOL, LPOU })).not.toThrow()
        }),
      )
    })
  })
})

describe('log parameters', () => {
  describe('Log Specific Parameter of Get Log Page', () => {
    // Command Dword 10 with all bits of one row set, as the figure of the log page numbers them.
    it.each([
      ['Telemetry Host-Initiated CTHID', 0x07, TelemetryHostLsp.encode({ CTHID: 1 }), 0x0000_0107],
      ['Telemetry Host-Initiated MCDA', 0x07, TelemetryHostLsp.encode({ MCDA: 4 }), 0x0000_0807],
      ['Asymmetric Namespace Access RGO', 0x0c, AnaLsp.encode({ RGO: 1 }), 0x0000_010c],
      ['Persistent Event Log ACT', 0x0d, PersistentEventLsp.encode({ ACT: 3 }), 0x0000_030d],
      ['Command and Feature Lockdown SCP', 0x14, LockdownLsp.encode({ SCP: 4 }), 0x0000_0414],
      ['Command and Feature Lockdown CNTTS', 0x14, LockdownLsp.encode({ CNTTS: 2 }), 0x0000_2014],
      ['Boot Partition BPID', 0x15, BootPartitionLsp.encode({ BPID: 1 }), 0x0000_0115],
      ['Reachability Groups RGO', 0x1a, ReachabilityGroupsLsp.encode({ RGO: 1 }), 0x0000_011a],
      ['Reachability Associations RAO', 0x1b, ReachabilityAssociationsLsp.encode({ RAO: 1 }), 0x0000_011b],
      ['FDP Events FDPET', 0x23, FdpEventsLsp.encode({ FDPET: 1 }), 0x0000_0123],
    ])('%s is at the bits of its figure', (_row, LID, LSP, cdw10) => {
      expect(dwordsOf(GetLogPage, { LID, LSP })[0]).toBe(cdw10)
    })

    it('has the rows of the figures, eight bits lower', () => {
      expect(rowsOf(TelemetryHostLsp)).toEqual([
        ['CTHID', 0, 0],
        ['MCDA', 3, 1],
      ])
      expect(rowsOf(PersistentEventLsp)).toEqual([['ACT', 1, 0]])
      expect(rowsOf(LockdownLsp)).toEqual([
        ['SCP', 3, 0],
        ['CNTTS', 5, 4],
      ])
    })

    it('has the values of the figures', () => {
      expect(valuesOf(TelemetryHostLsp.fields.MCDA)).toEqual({
        ...{ CONTROLLER_DETERMINES: 0, DATA_AREA_1: 1, DATA_AREAS_1_TO_2: 2, DATA_AREAS_1_TO_3: 3 },
        DATA_AREAS_1_TO_4: 4,
      })
      expect(valuesOf(PersistentEventLsp.fields.ACT)).toEqual({
        ...{ READ: 0, ESTABLISH_CONTEXT_AND_READ: 1, RELEASE_CONTEXT: 2, ESTABLISH_CONTEXT_AND_READ_HEADER: 3 },
      })
      expect(valuesOf(LockdownLsp.fields.SCP)).toEqual({
        ...{ ADMIN_OPCODE: 0, FEATURE: 2, MANAGEMENT_OPCODE: 3, PCIE_OPCODE: 4 },
      })
      expect(valuesOf(LockdownLsp.fields.CNTTS)).toEqual({
        ...{ CAN_BE_PROHIBITED: 0, PROHIBITED: 1, PROHIBITED_OUT_OF_BAND: 2 },
      })
      expect(valuesOf(FdpEventsLsp.fields.FDPET)).toEqual({ CONTROLLER_EVENTS: 0, HOST_EVENTS: 1 })
    })
  })

  describe('LID Specific Parameter of Supported Log Pages', () => {
    it('TelemetryHostLidsp and PersistentEventLidsp have one bit each (Base 2.1 Figures 215 and 228)', () => {
      expect(rowsOf(TelemetryHostLidsp)).toEqual([['MCDAS', 0, 0]])
      expect(rowsOf(PersistentEventLidsp)).toEqual([['ECRH', 0, 0]])
      expect([TelemetryHostLidsp.describe(1), PersistentEventLidsp.describe(0)]).toEqual(['MCDAS=1', 'ECRH=0'])
    })
  })
})

describe('log supported', () => {
  describe('Supported Log Pages (LID 00h, Base 2.1 §5.1.12.1.1)', () => {
    it('is 256 words of the rows of Figure 204', () => {
      expect([SupportedLogPages.bytes, ...bytesOf(SupportedLogPages)]).toEqual([1024, ['LIDS', 0, 1024]])
      const figure204 = [
        ['LSUPP', 0, 0],
        ['IOS', 1, 1],
        ['LIDSP', 31, 16],
      ]
      expect(rowsOf(LogPageSupport)).toEqual(figure204)
      expect(rowsOf({ fields: SupportedLogPages.fields.LIDS.rows })).toEqual(figure204)
    })

    it('the word of a log page is at four times its identifier', () => {
      const page = sparse(1024, { 8: '01 00 00 00', 48: '03 00 01 00' })
      const { LIDS } = SupportedLogPages.decode(page)
      expect([LIDS[0x02], LIDS[0x0c], LIDS[0x0d]]).toEqual([
        { LSUPP: 1, IOS: 0, LIDSP: 0 },
        { LSUPP: 1, IOS: 1, LIDSP: 1 },
        { LSUPP: 0, IOS: 0, LIDSP: 0 },
      ])
      expect(SupportedLogPages.describe(page)).toEqual([
        'LIDS[2]={ LSUPP=1 IOS=0 LIDSP=0 }',
        'LIDS[12]={ LSUPP=1 IOS=1 LIDSP=1 }',
      ])
    })
  })
})
