import { describe, expect, it } from 'vitest'
import { allFeatures } from '../all.js'
import { dwordsOf, rowsOf } from '../../test/figures.js'
import { FID, GetFeatures, SetFeatures, SupportedCapabilitiesDw0 } from './features.js'

// Base 2.1 §5.1.25, Figure 385: Feature Identifier and Feature Name; NVM 1.2 §4.1.3, Figure 91, and KV 1.0d §4.1.3, Figure 33
// (20h), for those of command sets.
const figure385 = `
  01 Arbitration | 02 Power Management | 03 LBA Range Type | 04 Temperature Threshold | 05 Error Recovery
  06 Volatile Write Cache | 07 Number of Queues | 08 Interrupt Coalescing | 09 Interrupt Vector Configuration
  0a Write Atomicity Normal | 0b Asynchronous Event Configuration | 0c Autonomous Power State Transition
  0d Host Memory Buffer | 0e Timestamp | 0f Keep Alive Timer | 10 Host Controlled Thermal Management
  11 Non-Operational Power State Config | 12 Read Recovery Level Config | 13 Predictable Latency Mode Config
  14 Predictable Latency Mode Window | 15 LBA Status Information Attributes | 16 Host Behavior Support
  17 Sanitize Config | 18 Endurance Group Event Configuration | 19 I/O Command Set Profile | 1a Spinup Control
  1b Power Loss Signaling Config | 1c Performance Characteristics | 1d Flexible Data Placement
  1e Flexible Data Placement Events | 1f Namespace Admin Label | 20 Key Value Configuration
  21 Controller Data Queue
  78 Embedded Management Controller Address | 79 Host Management Agent Address | 7d Enhanced Controller Metadata
  7e Controller Metadata | 7f Namespace Metadata | 80 Software Progress Marker | 81 Host Identifier
  82 Reservation Notification Mask | 83 Reservation Persistence | 84 Namespace Write Protection Config
  85 Boot Partition Write Protection Config`
  .split(/[|\n]/)
  .map((row) => row.trim())
  .filter((row) => row !== '')
  .map((row) => [Number.parseInt(row.slice(0, 2), 16), row.slice(3)] as const)

describe('FID (Base 2.1 §5.1.25, Figure 385; NVM 1.2 §4.1.3, Figure 91)', () => {
  it('has the identifiers of the figures, under their names, and no others', () => {
    const names = figure385.map(([fid, name]) => [name.replace('I/O', 'IO').toUpperCase().replace(/[ -]/g, '_'), fid])
    expect(Object.entries(FID.values)).toEqual(names)
  })

  it('every feature has rows or data, but for the Namespace Admin Label, not read, and that of the Key Value Command Set', () => {
    const declared = figure385.filter(
      ([, name]) => name !== 'Namespace Admin Label' && name !== 'Key Value Configuration',
    )
    expect(allFeatures.map(({ fid, name }) => [fid, name])).toEqual(declared)
  })
})

describe('Set Features and Get Features (Base 2.1 §5.1.25 and §5.1.11)', () => {
  it('Set Features: FID and SV stand in Command Dword 10 (Figure 383), UIDX in Command Dword 14 (Figure 384)', () => {
    const values = { FID: 0xc0, SV: 1, CDW11: 11, CDW12: 12, CDW13: 13, CDW14: 0x7f, CDW15: 15 }
    expect(dwordsOf(SetFeatures, values)).toEqual([0x8000_00c0, 11, 12, 13, 0x7f, 15])
    expect(rowsOf({ fields: SetFeatures.fields.CDW14.rows })).toEqual([['UIDX', 6, 0]])
  })

  it('Get Features: FID and SEL stand in Command Dword 10 (Figure 192), UIDX in Command Dword 14 (Figure 193)', () => {
    expect(dwordsOf(GetFeatures, { FID: 0xc0, SEL: 3, CDW11: 11, UIDX: 0x7f })).toEqual([0x3c0, 11, 0, 0, 0x7f, 0])
    expect(GetFeatures.fields.SEL.values).toEqual({ CURRENT: 0, DEFAULT: 1, SAVED: 2, SUPPORTED: 3 })
  })

  it('SupportedCapabilitiesDw0: with SEL 011b, bits 2:0 of Dword 0 say what may be done with the feature', () => {
    expect(rowsOf(SupportedCapabilitiesDw0)).toEqual([
      ['SAVEABLE', 0, 0],
      ['NS_SPECIFIC', 1, 1],
      ['CHANGEABLE', 2, 2],
    ])
    expect(SupportedCapabilitiesDw0.describe(5)).toBe('SAVEABLE=1 NS_SPECIFIC=0 CHANGEABLE=1')
  })
})
