import { describe, expect, it } from 'vitest'
import { describeEntries } from '../../test/entries.js'
import { bytesOf, valuesOf } from '../../test/figures.js'
import { zeroBased } from '../layout/zero-based.js'
import {
  IoManagementReceive,
  IoManagementSend,
  ReclaimUnitHandleStatus,
  ReclaimUnitHandleStatusDescriptor,
} from './io-management.js'

describeEntries([
  [
    IoManagementReceive, // Base 2.2 §7.3, Figures 561 to 563
    ...(['nvm', 0x12, 'controller-to-host'] as const),
    { CID: 9, NSID: 1, PRP1: 0x3000, MO: 1, MOS: 0x1234, NUMD: zeroBased(1024) },
    `12 00 09 00  01 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 30 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  01 00 34 12  ff 03 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00`,
  ],
  [
    IoManagementSend, // Base 2.2 §7.4, Figures 565 to 567
    ...(['nvm', 0x1d, 'host-to-controller'] as const),
    { CID: 9, NSID: 1, PRP1: 0x3000, MO: 1, MOS: 7 },
    `1d 00 09 00  01 00 00 00  00 00 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 30 00 00  00 00 00 00
     00 00 00 00  00 00 00 00  01 00 07 00  00 00 00 00
     00 00 00 00  00 00 00 00  00 00 00 00  00 00 00 00`,
  ],
])

describe('I/O management', () => {
  it('has the operations of Base 2.2 Figures 562 and 566', () => {
    expect(valuesOf(IoManagementReceive.MO)).toEqual({ NO_ACTION: 0, RECLAIM_UNIT_HANDLE_STATUS: 1 })
    expect(valuesOf(IoManagementSend.MO)).toEqual({ NO_ACTION: 0, RECLAIM_UNIT_HANDLE_UPDATE: 1 })
  })

  it('Reclaim Unit Handle Status has its count at byte 14 of 16 (Base 2.2 Figure 564)', () => {
    expect(ReclaimUnitHandleStatus.bytes).toBe(16)
    expect(bytesOf(ReclaimUnitHandleStatus)).toEqual([['NRUHSD', 14, 2]])
  })

  it('Reclaim Unit Handle Status Descriptor has its fields at their bytes of 32 (NVM 1.2 Figure 20)', () => {
    expect(ReclaimUnitHandleStatusDescriptor.bytes).toBe(32)
    expect(bytesOf(ReclaimUnitHandleStatusDescriptor)).toEqual([
      ['PID', 0, 2],
      ['RUHID', 2, 2],
      ['EARUTR', 4, 4],
      ['RUAMW', 8, 8],
    ])
  })
})
