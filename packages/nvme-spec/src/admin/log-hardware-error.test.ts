import { describe, expect, it } from 'vitest'
import { fromHex, sparse } from '../../test/bytes.js'
import { bytesOf, rowsOf, valuesOf } from '../../test/figures.js'
import {
  EnduranceGroupWarning,
  HardwareErrorEvent,
  PcieHardwareError,
  ReadyTimeoutExceeded,
  UnexpectedPowerLoss,
} from './log-hardware-error.js'

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
    expect([UnexpectedPowerLoss.bytes, ...bytesOf(UnexpectedPowerLoss)]).toEqual([17, ['UPL', 0, 16], ['UPLIA', 16, 1]])
    expect(UnexpectedPowerLoss.decode(sparse(17, { 0: '07', 16: '01' }))).toEqual({ UPL: 7n, UPLIA: { UPLOA: 1 } })
  })

  it('a timeout says what was not ready (Base 2.1 Figure 239)', () => {
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
