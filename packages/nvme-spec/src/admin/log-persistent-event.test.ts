import { describe, expect, it } from 'vitest'
import { fromHex, sparse } from '../../test/bytes.js'
import { bytesOf, rowsOf, valuesOf } from '../../test/figures.js'
import { PERSISTENT_EVENT, PersistentEventHeader, PersistentEventLogHeader } from './log-persistent-event.js'

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
