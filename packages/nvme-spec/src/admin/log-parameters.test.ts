import { describe, expect, it } from 'vitest'
import { dwordsOf, rowsOf, valuesOf } from '../../test/figures.js'
import { GetLogPage } from './get-log-page.js'
import {
  AnaLsp,
  BootPartitionLsp,
  FdpEventsLsp,
  LockdownLsp,
  PersistentEventLidsp,
  PersistentEventLsp,
  ReachabilityAssociationsLsp,
  ReachabilityGroupsLsp,
  TelemetryHostLidsp,
  TelemetryHostLsp,
} from './log-parameters.js'

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
  ])('%s stands where its figure says', (_row, LID, LSP, cdw10) => {
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
