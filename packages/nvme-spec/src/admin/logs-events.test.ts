import { describe, expect, it } from 'vitest'
import {
  ChangeNamespaceEvent,
  ControllerResetInformation,
  EnduranceGroupWarning,
  FirmwareCommitEvent,
  FormatCompletionEvent,
  FormatStartEvent,
  HardwareErrorEvent,
  PcieHardwareError,
  PERSISTENT_EVENT,
  PersistentEventHeader,
  PersistentEventLogHeader,
  PowerOnOrResetEvent,
  ReadyTimeoutExceeded,
  SanitizeCompletionEvent,
  SanitizeStartEvent,
  SetFeatureEvent,
  ThermalExcursionEvent,
  TimestampChangeEvent,
  UnexpectedPowerLoss,
  VendorSpecificEventDescriptor,
} from './logs-events.js'
import { fromHex, sparse } from '../../test/bytes.js'
import { bytesOf, rowsOf, valuesOf } from '../../test/figures.js'

describe('log persistent event', () => {
  // Base 2.1 §5.1.12.1.14.2, Figure 229.
  const figure229 = {
    ...{ SMART_HEALTH_LOG_SNAPSHOT: 0x01, FIRMWARE_COMMIT: 0x02, TIMESTAMP_CHANGE: 0x03, POWER_ON_OR_RESET: 0x04 },
    ...{ NVM_SUBSYSTEM_HARDWARE_ERROR: 0x05, CHANGE_NAMESPACE: 0x06, FORMAT_NVM_START: 0x07 },
    ...{ FORMAT_NVM_COMPLETION: 0x08, SANITIZE_START: 0x09, SANITIZE_COMPLETION: 0x0a, SET_FEATURE: 0x0b },
    ...{ TELEMETRY_LOG_CREATED: 0x0c, THERMAL_EXCURSION: 0x0d, SANITIZE_MEDIA_VERIFICATION: 0x0e },
    ...{ VENDOR_SPECIFIC: 0xde, TCG_DEFINED: 0xdf },
  }

  describe('Persistent Event Log (LID 0Dh, Base 2.3 §5.2.12.1.14; libnvme 1.3 nvme_persistent_event_log)', () => {
    it('begins with the fields of Figure 230', () => {
      expect([PersistentEventLogHeader.bytes, ...bytesOf(PersistentEventLogHeader)]).toEqual([
        512,
        ['LID', 0, 1],
        ['TNEV', 4, 4],
        ['TLL', 8, 8],
        ['LREV', 16, 1],
        ['LHL', 18, 2],
        ['TSTMP', 20, 8],
        ['POH', 28, 16],
        ['PWRC', 44, 8],
        ['VID', 52, 2],
        ['SSVID', 54, 2],
        ['SN', 56, 20],
        ['MN', 76, 40],
        ['SUBNQN', 116, 256],
        ['GNUM', 372, 2],
        ['RCI', 374, 4],
        ['SEB', 480, 32],
      ])
      expect(rowsOf({ fields: PersistentEventLogHeader.fields.RCI.rows })).toEqual([
        ['RCPID', 15, 0],
        ['RCPIT', 17, 16],
        ['RCE', 18, 18],
      ])
      expect(valuesOf(PersistentEventLogHeader.fields.RCI.rows.RCPIT)).toEqual({
        ...{ NO_CONTEXT: 0, NVM_SUBSYSTEM_PORT: 1, MANAGEMENT_ENDPOINT: 2 },
      })
    })

    it('decodes a header', () => {
      const page = sparse(512, {
        ...{ 0: '0d', 4: '02 00 00 00 28 02', 16: '03 00 ec 01', 20: '00 68 e5 cf 8b 01 02', 28: '10', 44: '05' },
        ...{ 52: 'b7 15 b7 15', 56: '53 31 20', 76: '4d 20', 116: '6e 71 6e 2e 78 00', 372: '07 00 01 00 05 00' },
        ...{ 480: 'fe 3f', 507: '40' },
      })
      const decoded = PersistentEventLogHeader.decode(page)
      expect(decoded).toMatchObject({
        ...{ LID: 0x0d, TNEV: 2, TLL: 552n, LREV: 3, LHL: 492 },
        TSTMP: [{ TSTMP: 1_700_000_000_000, TSTMPS: { SYNC: 0, TSTMPO: 1 } }],
        ...{ POH: 16n, PWRC: 5n, VID: 0x15b7, SSVID: 0x15b7, SN: 'S1', MN: 'M', SUBNQN: 'nqn.x', GNUM: 7 },
        RCI: { RCPID: 1, RCPIT: 1, RCE: 1 },
      })
      expect([decoded.SEB[0], decoded.SEB[1], decoded.SEB[27], decoded.reserved]).toEqual([0xfe, 0x3f, 0x40, undefined])
    })
  })

  describe('Persistent Event (Base 2.3 §5.2.12.1.14; libnvme 1.3 nvme_persistent_event_entry)', () => {
    it('PERSISTENT_EVENT has the types of Base 2.1 Figure 229, and ET their names', () => {
      expect(PERSISTENT_EVENT.values).toEqual(figure229)
      expect(valuesOf(PersistentEventHeader.fields.ET)).toEqual(figure229)
    })

    it('begins with the fields of Figure 231', () => {
      expect([PersistentEventHeader.bytes, ...bytesOf(PersistentEventHeader)]).toEqual([
        24,
        ['ET', 0, 1],
        ['ETR', 1, 1],
        ['EHL', 2, 1],
        ['EHAI', 3, 1],
        ['CNTLID', 4, 2],
        ['ETSTP', 6, 8],
        ['PELPID', 14, 2],
        ['VSIL', 20, 2],
        ['EL', 22, 2],
      ])
      expect(rowsOf({ fields: PersistentEventHeader.fields.EHAI.rows })).toEqual([['PIT', 1, 0]])
      expect(valuesOf(PersistentEventHeader.fields.EHAI.rows.PIT)).toEqual({
        ...{ NOT_REPORTED: 0, NVM_SUBSYSTEM_PORT: 1, MANAGEMENT_ENDPOINT: 2, NO_PORT: 3 },
      })
    })

    it('decodes an event, which is EHL + 3 + EL bytes long', () => {
      const event = fromHex('0d 01 15 03 41 00 00 68 e5 cf 8b 01 00 00 00 00 00 00 00 00 00 00 02 00 05 01')
      const header = PersistentEventHeader.decode(event)
      expect(header).toEqual({
        ...{ ET: 0x0d, ETR: 1, EHL: 21, EHAI: { PIT: 3 }, CNTLID: 0x41 },
        ETSTP: [{ TSTMP: 1_700_000_000_000, TSTMPS: { SYNC: 0, TSTMPO: 0 } }],
        ...{ PELPID: 0, VSIL: 0, EL: 2 },
      })
      expect(header.EHL + 3 + header.EL).toBe(26)
      expect(PersistentEventHeader.describe(event)).toEqual([
        'ET=THERMAL_EXCURSION',
        'ETR=1',
        'EHL=21',
        'EHAI={ PIT=NO_PORT }',
        'CNTLID=65',
        'ETSTP[0]={ TSTMP=1700000000000 }',
        'EL=2',
      ])
    })
  })
})

describe('log persistent event data', () => {
  describe('Firmware Commit Event (type 02h, Base 2.1 §5.1.12.1.14.2.2, Figure 231)', () => {
    it('has its fields at these bytes', () => {
      expect([FirmwareCommitEvent.bytes, ...bytesOf(FirmwareCommitEvent)]).toEqual([
        22,
        ['OFR', 0, 8],
        ['NFR', 8, 8],
        ['FCA', 16, 1],
        ['FSLT', 17, 1],
        ['STCTFCC', 18, 1],
        ['SRFCC', 19, 1],
        ['VAFCRC', 20, 2],
      ])
    })

    it('decodes and describes an event', () => {
      const data = fromHex('31 2e 30 20 20 20 20 20 31 2e 31 20 20 20 20 20 03 02 01 0b 34 12')
      expect(FirmwareCommitEvent.decode(data)).toEqual({
        ...{ OFR: '1.0', NFR: '1.1', FCA: 3, FSLT: 2, STCTFCC: 1, SRFCC: 0x0b, VAFCRC: 0x1234 },
      })
      expect(FirmwareCommitEvent.describe(data)).toContain('SRFCC=0x0b')
    })
  })

  describe('Timestamp Change Event (type 03h, Base 2.1 §5.1.12.1.14.2.3, Figure 232)', () => {
    it('is a timestamp and milliseconds since a reset', () => {
      expect([TimestampChangeEvent.bytes, ...bytesOf(TimestampChangeEvent)]).toEqual([
        16,
        ['PTSTP', 0, 8],
        ['MSR', 8, 8],
      ])
      expect(TimestampChangeEvent.decode(fromHex('00 68 e5 cf 8b 01 03 00 e8 03 00 00 00 00 00 00'))).toEqual({
        PTSTP: [{ TSTMP: 1_700_000_000_000, TSTMPS: { SYNC: 1, TSTMPO: 1 } }],
        MSR: 1000n,
      })
    })
  })

  describe('Power-on or Reset Event (type 04h, Base 2.3 §5.2.12.1.14.2.4; libnvme 1.3 nvme_power_on_reset_info_list)', () => {
    it('begins with a firmware revision, and describes a controller in 36 bytes', () => {
      expect([PowerOnOrResetEvent.bytes, ...bytesOf(PowerOnOrResetEvent)]).toEqual([8, ['FREV', 0, 8]])
      expect([ControllerResetInformation.bytes, ...bytesOf(ControllerResetInformation)]).toEqual([
        36,
        ['CNTLID', 0, 2],
        ['FA', 2, 1],
        ['OIP', 3, 1],
        ['CPWRC', 16, 4],
        ['POM', 20, 8],
        ['CTSTP', 28, 8],
      ])
      expect(valuesOf(ControllerResetInformation.fields.FA)).toEqual({ NONE: 0, ACTIVATED: 1, FAILED: 2 })
      expect(rowsOf({ fields: ControllerResetInformation.fields.OIP.rows })).toEqual([['RDNF', 0, 0]])
    })

    it('decodes a reset of one controller', () => {
      const data = sparse(44, {
        0: '31 2e 31 20 20 20 20 20 41 00 01 01',
        24: '09',
        28: '10 27',
        36: '01 00 00 00 00 00',
      })
      expect(PowerOnOrResetEvent.decode(data)).toEqual({ FREV: '1.1' })
      expect(ControllerResetInformation.decode(data, PowerOnOrResetEvent.bytes)).toEqual({
        ...{ CNTLID: 0x41, FA: 1, OIP: { RDNF: 1 }, CPWRC: 9, POM: 10_000n },
        CTSTP: [{ TSTMP: 1, TSTMPS: { SYNC: 0, TSTMPO: 0 } }],
      })
    })
  })

  describe('Change Namespace Event (type 06h, Base 2.1 §5.1.12.1.14.2.6, Figure 240)', () => {
    it('has its fields at these bytes', () => {
      expect([ChangeNamespaceEvent.bytes, ...bytesOf(ChangeNamespaceEvent)]).toEqual([
        48,
        ['NMCDW10', 0, 4],
        ['NSZE', 8, 8],
        ['NCAP', 24, 8],
        ['FLBAS', 32, 1],
        ['DPS', 33, 1],
        ['NMIC', 34, 1],
        ['ANAGRPID', 36, 4],
        ['NVMSETID', 40, 2],
        ['ENDGID', 42, 2],
        ['NSID', 44, 4],
      ])
    })

    it('decodes the deletion of all namespaces', () => {
      const data = sparse(48, { 0: '01', 12: '01', 24: '10', 32: '12 01 01', 36: '02', 40: '03 00 04 00 ff ff ff ff' })
      expect(ChangeNamespaceEvent.decode(data)).toEqual({
        ...{ NMCDW10: 1, NSZE: 4_294_967_296n, NCAP: 16n, FLBAS: 0x12, DPS: 1, NMIC: 1 },
        ...{ ANAGRPID: 2, NVMSETID: 3, ENDGID: 4, NSID: 0xffff_ffff },
      })
    })
  })

  describe('Format NVM events (types 07h and 08h, Base 2.3 §5.2.12.1.14.2.7 and .8)', () => {
    it('have their fields at these bytes', () => {
      expect([FormatStartEvent.bytes, ...bytesOf(FormatStartEvent)]).toEqual([
        12,
        ['NSID', 0, 4],
        ['FNA', 4, 1],
        ['FMCDW10', 8, 4],
      ])
      expect([FormatCompletionEvent.bytes, ...bytesOf(FormatCompletionEvent)]).toEqual([
        12,
        ['NSID', 0, 4],
        ['SFPI', 4, 1],
        ['FNVMS', 5, 1],
        ['CINFO', 6, 2],
        ['INFO', 8, 2],
      ])
      expect(rowsOf({ fields: FormatCompletionEvent.fields.FNVMS.rows })).toEqual([
        ['FNVME', 0, 0],
        ['INCPFT', 1, 1],
      ])
      expect(rowsOf({ fields: FormatCompletionEvent.fields.INFO.rows })).toEqual([
        ['P', 0, 0],
        ['SC', 8, 1],
        ['SCT', 11, 9],
        ['CRD', 13, 12],
        ['M', 14, 14],
        ['DNR', 15, 15],
      ])
    })

    it('decode', () => {
      expect(FormatStartEvent.decode(fromHex('01 00 00 00 04 00 00 00 00 02 00 00'))).toEqual({
        ...{ NSID: 1, FNA: 4, FMCDW10: 0x200 },
      })
      expect(FormatCompletionEvent.decode(fromHex('01 00 00 00 32 03 34 12 14 82 00 00'))).toEqual({
        ...{ NSID: 1, SFPI: 50, FNVMS: { FNVME: 1, INCPFT: 1 }, CINFO: 0x1234 },
        INFO: { P: 0, SC: 0x0a, SCT: 1, CRD: 0, M: 0, DNR: 1 },
      })
    })
  })

  describe('Sanitize events (types 09h and 0Ah, Base 2.1 §5.1.12.1.14.2.9 and .10, Figures 243 and 244)', () => {
    it('have their fields at these bytes', () => {
      expect([SanitizeStartEvent.bytes, ...bytesOf(SanitizeStartEvent)]).toEqual([
        12,
        ['SANICAP', 0, 4],
        ['SCDW10', 4, 4],
        ['SCDW11', 8, 4],
      ])
      expect([SanitizeCompletionEvent.bytes, ...bytesOf(SanitizeCompletionEvent)]).toEqual([
        8,
        ['SPROG', 0, 2],
        ['SSTAT', 2, 2],
        ['CINFO', 4, 2],
      ])
      expect(rowsOf({ fields: SanitizeCompletionEvent.fields.SSTAT.rows })).toEqual([
        ['SOS', 2, 0],
        ['OPC', 7, 3],
        ['GDE', 8, 8],
        ['MVCNCLD', 9, 9],
      ])
    })

    it('decode', () => {
      expect(SanitizeStartEvent.decode(fromHex('07 00 00 80 03 00 00 00 ef be ad de'))).toEqual({
        ...{ SANICAP: 0x8000_0007, SCDW10: 3, SCDW11: 0xdead_beef },
      })
      expect(SanitizeCompletionEvent.decode(fromHex('ff ff 19 01 34 12 00 00'))).toEqual({
        ...{ SPROG: 65_535, SSTAT: { SOS: 1, OPC: 3, GDE: 1, MVCNCLD: 0 }, CINFO: 0x1234 },
      })
    })
  })

  describe('Set Feature Event (type 0Bh, Base 2.1 §5.1.12.1.14.2.11, Figure 246)', () => {
    it('begins with SFEL, whose bits are DWC, LCCDW0 and MBC', () => {
      expect([SetFeatureEvent.bytes, ...bytesOf(SetFeatureEvent)]).toEqual([4, ['SFEL', 0, 4]])
      expect(rowsOf({ fields: SetFeatureEvent.fields.SFEL.rows })).toEqual([
        ['DWC', 2, 0],
        ['LCCDW0', 3, 3],
        ['MBC', 31, 16],
      ])
      expect(SetFeatureEvent.decode(fromHex('0a 00 00 02'))).toEqual({ SFEL: { DWC: 2, LCCDW0: 1, MBC: 512 } })
    })
  })

  describe('Thermal Excursion Event (type 0Dh, Base 2.1 §5.1.12.1.14.2.13, Figure 248)', () => {
    it('is a difference in kelvins and the threshold that was crossed', () => {
      expect([ThermalExcursionEvent.bytes, ...bytesOf(ThermalExcursionEvent)]).toEqual([
        2,
        ['OTMP', 0, 1],
        ['THRESH', 1, 1],
      ])
      expect(valuesOf(ThermalExcursionEvent.fields.THRESH)).toEqual({
        ...{ WCTEMP: 0x01, CCTEMP: 0x02, TMT1: 0x03, TMT2: 0x04, VENDOR_SPECIFIC_TEMPERATURE: 0x05 },
        ...{ NORMAL_TEMPERATURE: 0x88, THERMAL_MANAGEMENT_STOPPED: 0x89, UNDER_TEMPERATURE: 0xb0 },
      })
      expect(ThermalExcursionEvent.describe(fromHex('05 88'))).toEqual(['OTMP=5', 'THRESH=NORMAL_TEMPERATURE'])
    })
  })

  describe('Vendor Specific Event Descriptor (type DEh, Base 2.1 §5.1.12.1.14.2.15, Figures 250 and 251)', () => {
    it('begins with the code, type and length of the data', () => {
      expect([VendorSpecificEventDescriptor.bytes, ...bytesOf(VendorSpecificEventDescriptor)]).toEqual([
        6,
        ['VSEC', 0, 2],
        ['VSEDT', 2, 1],
        ['UIDX', 3, 1],
        ['VSEDL', 4, 2],
      ])
      expect(valuesOf(VendorSpecificEventDescriptor.fields.VSEDT)).toEqual({
        ...{ EVENT_NAME: 1, ASCII_STRING: 2, BINARY: 3, SIGNED_INTEGER: 4 },
      })
      expect(VendorSpecificEventDescriptor.decode(fromHex('34 12 04 01 08 00 ff ff ff ff ff ff ff ff'))).toEqual({
        ...{ VSEC: 0x1234, VSEDT: 4, UIDX: 1, VSEDL: 8 },
      })
    })
  })
})

describe('log hardware error', () => {
  describe('NVM Subsystem Hardware Error Event (type 05h, Base 2.3 §5.2.12.1.14.2.5)', () => {
    it('begins with a code of Figure 240', () => {
      expect([HardwareErrorEvent.bytes, ...bytesOf(HardwareErrorEvent)]).toEqual([4, ['NSHEEC', 0, 2]])
      expect(valuesOf(HardwareErrorEvent.fields.NSHEEC)).toEqual({
        ...{ PCIE_CORRECTABLE_ERROR: 1, PCIE_UNCORRECTABLE_NON_FATAL_ERROR: 2, PCIE_UNCORRECTABLE_FATAL_ERROR: 3 },
        ...{ PCIE_LINK_STATUS_CHANGE: 4, PCIE_LINK_NOT_ACTIVE: 5, CRITICAL_WARNING_CONDITION: 6 },
        ...{ ENDURANCE_GROUP_CRITICAL_WARNING_CONDITION: 7, UNEXPECTED_POWER_LOSS: 8, CONTROLLER_FATAL_STATUS: 9 },
        ...{ MEDIA_AND_DATA_INTEGRITY_STATUS: 10, CONTROLLER_READY_TIMEOUT_EXCEEDED: 11 },
      })
      expect(HardwareErrorEvent.describe(fromHex('09 00 00 00'))).toEqual(['NSHEEC=CONTROLLER_FATAL_STATUS'])
    })

    it('PCIe errors carry the registers of Figure 242', () => {
      expect([PcieHardwareError.bytes, ...bytesOf(PcieHardwareError)]).toEqual([
        80,
        ['PCIEDSR', 0, 2],
        ['PCIEAS', 2, 1],
        ['PCIEAES', 16, 16],
        ['PCIEAEM', 32, 16],
        ['PCIEAHLR', 48, 16],
        ['PCIEATPLR', 64, 16],
      ])
      expect(rowsOf({ fields: PcieHardwareError.fields.PCIEAS.rows })).toEqual([['PCIEAERS', 0, 0]])
      const decoded = PcieHardwareError.decode(sparse(80, { 0: '09 00 01', 16: '41', 32: '42', 48: '43', 79: '44' }))
      expect([decoded.PCIEDSR, decoded.PCIEAS.PCIEAERS, decoded.PCIEAES[0], decoded.PCIEAEM[0]]).toEqual([9, 1, 65, 66])
      expect([decoded.PCIEAHLR[0], decoded.PCIEATPLR[15]]).toEqual([67, 68])
    })

    it('a warning of an Endurance Group names the group', () => {
      expect([EnduranceGroupWarning.bytes, ...bytesOf(EnduranceGroupWarning)]).toEqual([
        4,
        ['EGCW', 0, 1],
        ['EGID', 2, 2],
      ])
      expect(EnduranceGroupWarning.decode(fromHex('08 00 34 12'))).toEqual({
        EGCW: { EGASB: 0, EGDR: 0, EGRO: 1 },
        EGID: 0x1234,
      })
    })

    it('an unexpected power loss carries its count', () => {
      expect([UnexpectedPowerLoss.bytes, ...bytesOf(UnexpectedPowerLoss)]).toEqual([
        17,
        ['UPL', 0, 16],
        ['UPLIA', 16, 1],
      ])
      expect(UnexpectedPowerLoss.decode(sparse(17, { 0: '07', 16: '01' }))).toEqual({ UPL: 7n, UPLIA: { UPLOA: 1 } })
    })

    it('a timeout names the condition that was not met (Base 2.1 Figure 239)', () => {
      expect([ReadyTimeoutExceeded.bytes, ...bytesOf(ReadyTimeoutExceeded)]).toEqual([4, ['CST', 0, 1]])
      expect(rowsOf({ fields: ReadyTimeoutExceeded.fields.CST.rows })).toEqual([
        ['CRIME', 0, 0],
        ['NNR', 1, 1],
        ['ACMNR', 2, 2],
        ['CNR', 3, 3],
      ])
      expect(ReadyTimeoutExceeded.decode(fromHex('0a 00 00 00')).CST).toEqual({ CRIME: 0, NNR: 1, ACMNR: 0, CNR: 1 })
    })
  })
})
