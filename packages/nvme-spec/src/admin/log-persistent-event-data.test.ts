import { describe, expect, it } from 'vitest'
import { fromHex, sparse } from '../../test/bytes.js'
import { bytesOf, rowsOf, valuesOf } from '../../test/figures.js'
import {
  ChangeNamespaceEvent,
  ControllerResetInformation,
  FirmwareCommitEvent,
  FormatCompletionEvent,
  FormatStartEvent,
  PowerOnOrResetEvent,
  SanitizeCompletionEvent,
  SanitizeStartEvent,
  SetFeatureEvent,
  ThermalExcursionEvent,
  TimestampChangeEvent,
  VendorSpecificEventDescriptor,
} from './log-persistent-event-data.js'

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

  it('decodes and prints', () => {
    const data = fromHex('31 2e 30 20 20 20 20 20 31 2e 31 20 20 20 20 20 03 02 01 0b 34 12')
    expect(FirmwareCommitEvent.decode(data)).toEqual({
      ...{ OFR: '1.0', NFR: '1.1', FCA: 3, FSLT: 2, STCTFCC: 1, SRFCC: 0x0b, VAFCRC: 0x1234 },
    })
    expect(FirmwareCommitEvent.describe(data)).toContain('SRFCC=0x0b')
  })
})

describe('Timestamp Change Event (type 03h, Base 2.1 §5.1.12.1.14.2.3, Figure 232)', () => {
  it('is a timestamp and milliseconds since a reset', () => {
    expect([TimestampChangeEvent.bytes, ...bytesOf(TimestampChangeEvent)]).toEqual([16, ['PTSTP', 0, 8], ['MSR', 8, 8]])
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
  it('begins with what follows', () => {
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
