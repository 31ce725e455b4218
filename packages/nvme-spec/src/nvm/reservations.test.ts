import { describe, expect, it } from 'vitest'
import { fromHex } from '../../test/bytes.js'
import { describeEntries } from '../../test/entries.js'
import { bytesOf, valuesOf } from '../../test/figures.js'
import { zeroBased } from '../layout/rows.js'
import {
  Registrant,
  RegistrantExtended,
  RESERVATION_TYPE,
  ReservationAcquire,
  ReservationAcquireData,
  ReservationRegister,
  ReservationRegisterData,
  ReservationRelease,
  ReservationReleaseData,
  ReservationReport,
  ReservationStatus,
  ReservationStatusExtended,
} from './reservations.js'

const begin = (opcode: string) => `${opcode} 00 09 00  01 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 30 00 00  00 00 00 00`
const end = '00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00'
const common = { CID: 9, NSID: 1, PRP1: 0x3000 }

// Base 2.2 §7.5 to §7.8. Except for DISNSRS, libnvme 1.3 produces the same Command Dword 10.
describeEntries([
  [
    ReservationRegister,
    ...(['nvm', 0x0d, 'host-to-controller'] as const),
    { ...common, RREGA: 2, IEKEY: 1, DISNSRS: 1, CPTPL: 3 },
    `${begin('0d')}  00 00 00 00  00 00 00 00  1a 00 00 c0  00 00 00 00  ${end}`,
  ],
  [
    ReservationReport,
    ...(['nvm', 0x0e, 'controller-to-host'] as const),
    { ...common, NUMD: zeroBased(1024), EDS: 1 },
    `${begin('0e')}  00 00 00 00  00 00 00 00  ff 03 00 00  01 00 00 00  ${end}`,
  ],
  [
    ReservationReport,
    ...(['nvm', 0x0e, 'controller-to-host'] as const),
    { ...common, DISNSRS: 1 },
    `${begin('0e')}  00 00 00 00  00 00 00 00  00 00 00 00  02 00 00 00  ${end}`,
  ],
  [
    ReservationAcquire,
    ...(['nvm', 0x11, 'host-to-controller'] as const),
    { ...common, RTYPE: 3, RACQA: 2, IEKEY: 1, DISNSRS: 1 },
    `${begin('11')}  00 00 00 00  00 00 00 00  1a 03 00 00  00 00 00 00  ${end}`,
  ],
  [
    ReservationRelease,
    ...(['nvm', 0x15, 'host-to-controller'] as const),
    { ...common, RTYPE: 6, RRELA: 1, IEKEY: 1, DISNSRS: 1 },
    `${begin('15')}  00 00 00 00  00 00 00 00  19 06 00 00  00 00 00 00  ${end}`,
  ],
])

describe('reservations', () => {
  it('have the types of Base 2.2 Figure 572', () => {
    expect(RESERVATION_TYPE.values).toEqual({
      WRITE_EXCLUSIVE: 1,
      EXCLUSIVE_ACCESS: 2,
      WRITE_EXCLUSIVE_REGISTRANTS_ONLY: 3,
      EXCLUSIVE_ACCESS_REGISTRANTS_ONLY: 4,
      WRITE_EXCLUSIVE_ALL_REGISTRANTS: 5,
      EXCLUSIVE_ACCESS_ALL_REGISTRANTS: 6,
    })
    expect(valuesOf(ReservationAcquire.RTYPE)).toEqual(RESERVATION_TYPE.values)
    expect(valuesOf(ReservationStatus.fields.RTYPE)).toMatchObject({ NONE: 0, EXCLUSIVE_ACCESS_ALL_REGISTRANTS: 6 })
  })

  it('have the actions of Base 2.2 Figures 570, 574 and 577', () => {
    expect(valuesOf(ReservationAcquire.RACQA)).toEqual({ ACQUIRE: 0, PREEMPT: 1, PREEMPT_AND_ABORT: 2 })
    expect(valuesOf(ReservationRegister.RREGA)).toEqual({ REGISTER: 0, UNREGISTER: 1, REPLACE: 2 })
    expect(valuesOf(ReservationRegister.CPTPL)).toEqual({ NO_CHANGE: 0, CLEAR: 2, SET: 3 })
    expect(valuesOf(ReservationRelease.RRELA)).toEqual({ RELEASE: 0, CLEAR: 1 })
  })
})

const header = [
  ['GEN', 0, 4],
  ['RTYPE', 4, 1],
  ['REGSTRNT', 5, 2],
  ['PTPLS', 9, 1],
]

describe.each([
  [
    ReservationRegisterData,
    16,
    [
      ['CRKEY', 0, 8],
      ['NRKEY', 8, 8],
    ],
  ], // Figure 575
  [
    ReservationAcquireData,
    16,
    [
      ['CRKEY', 0, 8],
      ['PRKEY', 8, 8],
    ],
  ], // Figure 571
  [ReservationReleaseData, 8, [['CRKEY', 0, 8]]], // Figure 578
  [ReservationStatus, 24, header], // Figure 582
  [ReservationStatusExtended, 64, header], // Figure 583
  [
    Registrant,
    24,
    [
      ['CNTLID', 0, 2],
      ['RCSTS', 2, 1],
      ['HOSTID', 8, 8],
      ['RKEY', 16, 8],
    ],
  ], // Figure 584
  [
    RegistrantExtended,
    64,
    [
      ['CNTLID', 0, 2],
      ['RCSTS', 2, 1],
      ['RKEY', 8, 8],
      ['HOSTID', 16, 16],
    ],
  ], // Figure 585
] as const)('$name (Base 2.2 §7.5 to §7.8)', (struct, bytes, fields) => {
  it('has its fields at their bytes', () => {
    expect(struct.bytes).toBe(bytes)
    expect(bytesOf(struct)).toEqual(fields)
  })
})

describe('a reservation report', () => {
  const data = fromHex(
    `07 00 00 00  03 02 00 00  00 01 00 00  00 00 00 00  00 00 00 00  00 00 00 00
     01 00 00 00  00 00 00 00  88 77 66 55  44 33 22 11  01 00 00 00  00 00 00 00
     fd ff 01 00  00 00 00 00  99 77 66 55  44 33 22 11  02 00 00 00  00 00 00 80`,
  )

  it('is read as a header and registrants, with 64-bit keys', () => {
    const { GEN, RTYPE, REGSTRNT, PTPLS } = ReservationStatus.decode(data)
    expect({ GEN, RTYPE, REGSTRNT, PTPLS }).toEqual({ GEN: 7, RTYPE: 3, REGSTRNT: 2, PTPLS: 1 })
    const registrants = Registrant.view(data, ReservationStatus.bytes)
    expect(registrants.at(0)).toMatchObject({ CNTLID: 1, RCSTS: 0, HOSTID: 0x1122_3344_5566_7788n, RKEY: 1n })
    expect(registrants.at(1)).toMatchObject({ CNTLID: 0xfffd, RCSTS: 1, RKEY: 0x8000_0000_0000_0002n })
    expect(Registrant.RCSTS.AHHR.of(registrants.at(1).RCSTS)).toBe(1)
  })
})
