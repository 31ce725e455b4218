import { describe, expect, it } from 'vitest'
import { toHex } from '../../../test/bytes.js'
import { rowsOf } from '../../../test/figures.js'
import {
  AutonomousPowerStateTransition,
  AutonomousPowerStateTransitionEntry,
  AutonomousPowerStateTransitions,
  HostControlledThermalManagement,
  NonOperationalPowerStateConfig,
  PowerLossSignalingConfig,
  PowerManagement,
  SpinupControl,
} from './power.js'

describe('Power Management (Base 2.1 §5.1.25.1.2, Figures 387 and 388)', () => {
  it('PS is bits 04:00 and WH bits 07:05, of Command Dword 11 and of Dword 0', () => {
    expect(PowerManagement.CDW11.encode({ PS: 4, WH: 2 })).toBe(0x44)
    expect(PowerManagement.DW0.decode(0xff)).toEqual({ PS: 31, WH: 7 })
  })
})

describe('Autonomous Power State Transition (Base 2.1 §5.1.25.1.6, Figures 392 and 393)', () => {
  it('APSTE is bit 0; the data is 32 entries of 8 bytes', () => {
    expect(rowsOf(AutonomousPowerStateTransition.CDW11)).toEqual([['APSTE', 0, 0]])
    expect(AutonomousPowerStateTransition.data).toBe(AutonomousPowerStateTransitions)
    expect([AutonomousPowerStateTransitions.bytes, AutonomousPowerStateTransitionEntry.bytes]).toEqual([256, 8])
  })

  it('ITPT is bits 31:08 and ITPS bits 07:03 of the entry of each power state', () => {
    const table = AutonomousPowerStateTransitions.create()
    const entry = table.APST.at(2)
    entry.ITPS = 3
    entry.ITPT = 0x01_0203
    expect(toHex(table.data, 16, 8)).toBe('18 03 02 01 00 00 00 00')
  })
})

describe('other features of power and temperature', () => {
  it('Host Controlled Thermal Management: TMT1 above TMT2 (Base 2.1 §5.1.25.1.9, Figure 398)', () => {
    expect(HostControlledThermalManagement.CDW11.encode({ TMT1: 343, TMT2: 353 })).toBe(0x0157_0161)
  })

  it('Non-Operational Power State Config: NOPPME is bit 0 (Base 2.1 §5.1.25.1.10, Figure 399)', () => {
    expect(rowsOf(NonOperationalPowerStateConfig.CDW11)).toEqual([['NOPPME', 0, 0]])
  })

  it('Spinup Control: SCE is set, SCS returned (Base 2.1 §5.1.25.1.18, Figures 412 and 413)', () => {
    expect(rowsOf(SpinupControl.CDW11)).toEqual([['SCE', 0, 0]])
    expect(rowsOf(SpinupControl.DW0)).toEqual([['SCS', 0, 0]])
  })

  it('Power Loss Signaling Config: the mode is bits 1:0 (libnvme 1.16 NVME_FEAT_PLS_MODE_SHIFT and _MASK)', () => {
    expect(rowsOf(PowerLossSignalingConfig.CDW11)).toEqual([['PLSM', 1, 0]])
  })
})
