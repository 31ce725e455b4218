import { describe, expect, it } from 'vitest'
import { zeroBased } from '../layout/rows.js'
import {
  ErrorRecovery,
  LbaRange,
  LbaRanges,
  LbaRangeType,
  LbaStatusInformationAttributes,
  PerformanceAttributeIdentifiers,
  PerformanceCharacteristics,
  StandardPerformanceAttribute,
  VendorSpecificPerformanceAttribute,
  WriteAtomicityNormal,
} from './features.js'
import { bytesOf, rowsOf } from '../../test/figures.js'

describe('lba range type', () => {
  describe('LBA Range Type (NVM 1.2 §4.1.3.1, Figures 93 to 95)', () => {
    it("NUM is a 0's based count in bits 05:00, of Command Dword 11 and of Dword 0", () => {
      expect(LbaRangeType.CDW11.encode({ NUM: zeroBased(64) })).toBe(63)
      expect(rowsOf(LbaRangeType.DW0)).toEqual([['NUM', 5, 0]])
    })

    it('LbaRange is 64 bytes; LbaRanges has room for 64 of them in 4096', () => {
      expect(LbaRange.bytes).toBe(64)
      expect(bytesOf(LbaRange)).toEqual([
        ['TYPE', 0, 1],
        ['ATTRB', 1, 1],
        ['SLBA', 16, 8],
        ['NLB', 24, 8],
        ['GUID', 32, 16],
      ])
      expect(rowsOf({ fields: LbaRange.fields.ATTRB.rows })).toEqual([
        ['LBARO', 0, 0],
        ['HLBAR', 1, 1],
      ])
      expect(LbaRange.fields.TYPE.values).toEqual({
        ...{ GENERAL_PURPOSE: 0, FILESYSTEM: 1, RAID: 2, CACHE: 3, PAGE_OR_SWAP_FILE: 4 },
      })
      expect(LbaRanges.bytes).toBe(4096)
      expect(LbaRangeType.data).toBe(LbaRanges)
      const ranges = LbaRanges.create()
      ranges.RANGE.at(63).TYPE = 0x80
      expect(ranges.data.getUint8(63 * 64)).toBe(0x80)
    })
  })
})

describe('error recovery', () => {
  it('Error Recovery: DULBE is bit 16, TLER bits 15:00 (NVM 1.2 §4.1.3.2, Figure 96)', () => {
    expect(rowsOf(ErrorRecovery.CDW11)).toEqual([
      ['TLER', 15, 0],
      ['DULBE', 16, 16],
    ])
  })
})

describe('write atomicity normal', () => {
  it('Write Atomicity Normal: DN is bit 0 (NVM 1.2 §4.1.3.3, Figure 97)', () => {
    expect(rowsOf(WriteAtomicityNormal.CDW11)).toEqual([['DN', 0, 0]])
  })
})

describe('lba status information', () => {
  it('LBA Status Information Attributes: LSIPI is bits 31:16, LSIRI bits 15:00 (NVM 1.2 §4.1.3.5, Figure 99)', () => {
    expect(rowsOf(LbaStatusInformationAttributes.CDW11)).toEqual([
      ['LSIRI', 15, 0],
      ['LSIPI', 31, 16],
    ])
  })
})

describe('performance characteristics', () => {
  describe('Performance Characteristics (NVM 1.2 §4.1.3.7)', () => {
    it('RVSPA is bit 8; ATTRI 00h selects the standard attribute, C0h the list of identifiers (Figure 101)', () => {
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

    it('VendorSpecificPerformanceAttribute: an identifier, a length and vendor specific data (Figure 104)', () => {
      expect(bytesOf(VendorSpecificPerformanceAttribute)).toEqual([
        ['PAID', 0, 16],
        ['ATTRL', 30, 2],
        ['VS', 32, 4064],
      ])
      expect(VendorSpecificPerformanceAttribute.bytes).toBe(4096)
    })
  })
})
