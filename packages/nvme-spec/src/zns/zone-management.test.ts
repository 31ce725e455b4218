import { describe, expect, it } from 'vitest'
import { describeEntries } from '../../test/entries.js'
import { valuesOf } from '../../test/figures.js'
import { zeroBased } from '../layout/zero-based.js'
import { ZoneManagementReceive, ZoneManagementSend, ZoneManagementSendDw0 } from './zone-management.js'

// ZNS 1.1 §3.4.2 and §3.4.3, Figures 31 to 34 and 38 to 39; Command Dwords 10 to 13 are what libnvme 1.3 makes of the
// same values.
describeEntries([
  [
    ZoneManagementSend,
    ...(['zns', 0x79, 'host-to-controller'] as const),
    { CID: 9, NSID: 1, SLBA: 0x22_3344_5566, ZSA: 4, SELECT_ALL: 1 },
    `79 00 09 00  01 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  66 55 44 33  22 00 00 00
     00 00 00 00  04 01 00 00  00 00 00 00  00 00 00 00`,
  ],
  [
    ZoneManagementSend,
    ...(['zns', 0x79, 'host-to-controller'] as const),
    { CID: 9, NSID: 1, PRP1: 0x3000, SLBA: 0x22_3344_5566, ZSA: 0x11, ZSASO: 1 },
    `79 00 09 00  01 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 30 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  66 55 44 33  22 00 00 00
     00 00 00 00  11 02 00 00  00 00 00 00  00 00 00 00`,
  ],
  [
    ZoneManagementReceive,
    ...(['zns', 0x7a, 'controller-to-host'] as const),
    { CID: 9, NSID: 1, PRP1: 0x3000, SLBA: 0x22_3344_5566, NUMD: zeroBased(1024), ZRA: 1, ZRASF: 5, PR: 1 },
    `7a 00 09 00  01 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 30 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  66 55 44 33  22 00 00 00
     ff 03 00 00  01 05 01 00  00 00 00 00  00 00 00 00`,
  ],
])

describe('zone management', () => {
  it('has the actions of ZNS 1.1 Figures 34 and 39, and that of libnvme 1.3 for zone random write areas', () => {
    expect(valuesOf(ZoneManagementSend.ZSA)).toEqual({
      CLOSE: 0x01,
      FINISH: 0x02,
      OPEN: 0x03,
      RESET: 0x04,
      OFFLINE: 0x05,
      SET_ZONE_DESCRIPTOR_EXTENSION: 0x10,
      ZRWA_FLUSH: 0x11,
    })
    expect(valuesOf(ZoneManagementReceive.ZRA)).toEqual({ REPORT_ZONES: 0, EXTENDED_REPORT_ZONES: 1 })
  })

  it('has the reporting options of ZNS 1.1 Figure 34', () => {
    expect(valuesOf(ZoneManagementReceive.ZRASF)).toEqual({
      ALL: 0,
      EMPTY: 1,
      IMPLICITLY_OPENED: 2,
      EXPLICITLY_OPENED: 3,
      CLOSED: 4,
      FULL: 5,
      READ_ONLY: 6,
      OFFLINE: 7,
      WITH_ATTRIBUTES: 9,
    })
  })

  it('says in bit 0 of Dword 0 of a completion that a zone capacity changed (ZNS 1.1 Figure 41)', () => {
    expect(ZoneManagementSendDw0.decode(1)).toEqual({ ZCC: 1 })
    expect(ZoneManagementSendDw0.decode(2)).toEqual({ ZCC: 0, reserved: 2 })
  })
})
