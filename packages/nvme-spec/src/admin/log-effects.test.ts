import { describe, expect, it } from 'vitest'
import { sparse } from '../../test/bytes.js'
import { bytesOf, rowsOf, valuesOf } from '../../test/figures.js'
import {
  CommandEffects,
  CommandEffectsLog,
  FeatureEffects,
  FeatureEffectsLog,
  ManagementCommandEffects,
  ManagementCommandEffectsLog,
} from './log-effects.js'

// Bits 31:20 are CSP or FSP in the figures, whose bit 0 is bit 20 of the word.
const scopes = [
  ['NSCPE', 20, 20],
  ['CSCPE', 21, 21],
  ['NSETSCPE', 22, 22],
  ['EGSCPE', 23, 23],
  ['DSCPE', 24, 24],
  ['NSSCPE', 25, 25],
]

describe('Commands Supported and Effects (LID 05h, Base 2.3 §5.2.12.1.6)', () => {
  it('the rows of CommandEffects are those of Figure 214', () => {
    expect(rowsOf(CommandEffects)).toEqual([
      ['CSUPP', 0, 0],
      ['LBCC', 1, 1],
      ['NCC', 2, 2],
      ['NIC', 3, 3],
      ['CCC', 4, 4],
      ['CSER', 15, 14],
      ['CSE', 18, 16],
      ['USS', 19, 19],
      ...scopes,
    ])
    expect(valuesOf(CommandEffects.fields.CSE)).toEqual({
      NO_RESTRICTION: 0,
      ALONE_ON_NAMESPACE: 1,
      ALONE_ON_ANY_NAMESPACE: 2,
    })
    expect(valuesOf(CommandEffects.fields.CSER)).toEqual({ NONE: 0, NO_OTHER_ADMIN_COMMAND: 1 })
  })

  it.each([
    ['CSUPP', 0x0000_0001, 1],
    ['LBCC', 0x0000_0002, 1],
    ['NCC', 0x0000_0004, 1],
    ['NIC', 0x0000_0008, 1],
    ['CCC', 0x0000_0010, 1],
    ['CSER', 0x0000_c000, 3],
    ['CSE', 0x0007_0000, 7],
    ['USS', 0x0008_0000, 1],
    ['NSSCPE', 0x0200_0000, 1],
  ] as const)('%s alone is %i', (row, word, value) => {
    expect(CommandEffects[row].of(word)).toBe(value)
    expect(CommandEffects[row].of(~word >>> 0)).toBe(0)
  })

  it('is a word for each Admin opcode, then one for each I/O opcode', () => {
    expect([CommandEffectsLog.bytes, ...bytesOf(CommandEffectsLog)]).toEqual([
      4096,
      ['ACS', 0, 1024],
      ['IOCS', 1024, 1024],
    ])
  })

  it('Format NVM is supported, changes content and capabilities and wants to be alone; so does Write of content', () => {
    const page = sparse(4096, { 0x200: '0f 40 02 02', 0x404: '03 00 10 00' })
    const { ACS, IOCS } = CommandEffectsLog.decode(page)
    expect(ACS[0x80]).toEqual({
      ...{ CSUPP: 1, LBCC: 1, NCC: 1, NIC: 1, CCC: 0, CSER: 1, CSE: 2, USS: 0 },
      ...{ NSCPE: 0, CSCPE: 0, NSETSCPE: 0, EGSCPE: 0, DSCPE: 0, NSSCPE: 1 },
    })
    expect(IOCS[0x01]).toMatchObject({ CSUPP: 1, LBCC: 1, NCC: 0, NSCPE: 1, NSSCPE: 0 })
    expect(IOCS[0x02]).toMatchObject({ CSUPP: 0, LBCC: 0 })
    expect(CommandEffects.describe(0x0202_400f)).toBe(
      'CSUPP=1 LBCC=1 NCC=1 NIC=1 CCC=0 CSER=NO_OTHER_ADMIN_COMMAND CSE=ALONE_ON_ANY_NAMESPACE USS=0 ' +
        'NSCPE=0 CSCPE=0 NSETSCPE=0 EGSCPE=0 DSCPE=0 NSSCPE=1',
    )
  })
})

describe('Feature Identifiers Supported and Effects (LID 12h, Base 2.1 §5.1.12.1.18)', () => {
  it('the rows of FeatureEffects are those of Figure 262', () => {
    expect(rowsOf(FeatureEffects)).toEqual([
      ['FSUPP', 0, 0],
      ['UDCC', 1, 1],
      ['NCC', 2, 2],
      ['NIC', 3, 3],
      ['CCC', 4, 4],
      ['USS', 19, 19],
      ...scopes,
      ['CDQSCP', 26, 26],
    ])
  })

  it('the word of a feature stands at four times its identifier', () => {
    expect([FeatureEffectsLog.bytes, ...bytesOf(FeatureEffectsLog)]).toEqual([1024, ['FIS', 0, 1024]])
    const { FIS } = FeatureEffectsLog.decode(sparse(1024, { 28: '01 00 20 00', 0x84: '13 00 08 04' }))
    expect(FIS[0x07]).toEqual({
      ...{ FSUPP: 1, UDCC: 0, NCC: 0, NIC: 0, CCC: 0, USS: 0 },
      ...{ NSCPE: 0, CSCPE: 1, NSETSCPE: 0, EGSCPE: 0, DSCPE: 0, NSSCPE: 0, CDQSCP: 0 },
    })
    expect(FIS[0x21]).toMatchObject({ FSUPP: 1, UDCC: 1, NCC: 0, CCC: 1, USS: 1, CDQSCP: 1, NSSCPE: 0 })
  })
})

describe('NVMe-MI Commands Supported and Effects (LID 13h, Base 2.1 §5.1.12.1.19)', () => {
  it('the rows of ManagementCommandEffects are those of Base 2.3 Figure 269', () => {
    expect(rowsOf(ManagementCommandEffects)).toEqual([
      ['CSUPP', 0, 0],
      ['UDCC', 1, 1],
      ['NCC', 2, 2],
      ['NIC', 3, 3],
      ['CCC', 4, 4],
      ...scopes,
    ])
  })

  it('the word of a command stands at four times its opcode, the upper three quarters are reserved', () => {
    expect([ManagementCommandEffectsLog.bytes, ...bytesOf(ManagementCommandEffectsLog)]).toEqual([
      4096,
      ['MICS', 0, 1024],
    ])
    const page = sparse(4096, { 1020: '09 00 00 02' })
    expect(ManagementCommandEffectsLog.describe(page)).toEqual([
      'MICS[255]={ CSUPP=1 UDCC=0 NCC=0 NIC=1 CCC=0 NSCPE=0 CSCPE=0 NSETSCPE=0 EGSCPE=0 DSCPE=0 NSSCPE=1 }',
    ])
  })
})
