import { describe, expect, it } from 'vitest'
import { bytesOf, rowsOf } from '../../../test/figures.js'
import {
  PerformanceAttributeIdentifiers,
  PerformanceCharacteristics,
  StandardPerformanceAttribute,
  VendorSpecificPerformanceAttribute,
} from './performance-characteristics.js'

describe('Performance Characteristics (NVM 1.2 §4.1.3.7)', () => {
  it('RVSPA stands above ATTRI, 00h the standard attribute, C0h the list of identifiers (Figure 101)', () => {
    expect(rowsOf(PerformanceCharacteristics.CDW11)).toEqual([
      ['ATTRI', 7, 0],
      ['RVSPA', 8, 8],
    ])
    expect(PerformanceCharacteristics.CDW11.fields.ATTRI.values).toEqual({ STANDARD: 0x00, IDENTIFIERS: 0xc0 })
  })

  it('StandardPerformanceAttribute: R4KARL is byte 4 (Figure 102)', () => {
    expect(bytesOf(StandardPerformanceAttribute)).toEqual([['R4KARL', 4, 1]])
    expect(StandardPerformanceAttribute.bytes).toBe(4096)
  })

  it('PerformanceAttributeIdentifiers: identifiers of 16 bytes from C1h at byte 16 to FFh at byte 1008 (Figure 103)', () => {
    expect(bytesOf(PerformanceAttributeIdentifiers)).toEqual([
      ['ATTRIBUTES', 0, 1],
      ['MSVSPA', 1, 1],
      ['USVSPA', 2, 1],
      ['PAHI', 16, 1008],
    ])
    const { rows } = PerformanceAttributeIdentifiers.fields.ATTRIBUTES
    expect(rowsOf({ fields: rows })).toEqual([['ATTRTYP', 2, 0]])
    expect(rows.ATTRTYP.values).toEqual({ CURRENT: 0, DEFAULT: 1, SAVED: 2 })
    expect(PerformanceAttributeIdentifiers.bytes).toBe(4096)
  })

  it('VendorSpecificPerformanceAttribute: an identifier, a length and what a vendor defined (Figure 104)', () => {
    expect(bytesOf(VendorSpecificPerformanceAttribute)).toEqual([
      ['PAID', 0, 16],
      ['ATTRL', 30, 2],
      ['VS', 32, 4064],
    ])
    expect(VendorSpecificPerformanceAttribute.bytes).toBe(4096)
  })
})
