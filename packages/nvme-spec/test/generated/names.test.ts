import { describe, expect, test } from 'vitest'
import { comment, constant, lower, macro, uniqueNames } from '../../scripts/names.mjs'

describe('names in C', () => {
  test.each([
    [['CC', 'EN', 'SHIFT'], 'GPUNVME_CC_EN_SHIFT'],
    [['CreateIoSq', 'QID', 'DWORD'], 'GPUNVME_CREATE_IO_SQ_QID_DWORD'],
    [['IdentifyController', 'OACS', 'FNVMS', 'MASK'], 'GPUNVME_IDENTIFY_CONTROLLER_OACS_FNVMS_MASK'],
    [['SQyTDBL', 'SQT', 'MASK'], 'GPUNVME_SQY_TDBL_SQT_MASK'],
    [['UUIDList', 'RTD3R'], 'GPUNVME_UUID_LIST_RTD3R'],
  ])('%j is %s', (parts, name) => {
    expect(macro(...parts)).toBe(name)
  })

  test('two declarations with the same name are rejected, and the error names both', () => {
    const unique = uniqueNames()
    unique(macro('A_B', 'C'), 'A_B.C')
    expect(() => unique(macro('A', 'B_C'), 'A.B_C')).toThrow(
      'GPUNVME_A_B_C would be the C name of both A_B.C and A.B_C',
    )
  })

  test.each(['INT', 'TEMPLATE', 'XOR', 'CURRENT'])('%s is rejected as the name of a member', (word) => {
    expect(() => lower(word, `S.${word}`)).toThrow(`S.${word}: ${word.toLowerCase()} is a keyword of C or C++, or`)
  })

  test('invalid identifiers and comment delimiters are rejected', () => {
    expect(() => macro('A', 'B-C')).toThrow('A.B-C: GPUNVME_A_B-C is not a valid macro name in C')
    expect(() => lower('4K', 'S.4K')).toThrow('S.4K: 4k is not a valid name in C')
    expect(() => comment('a */ b')).toThrow('contains a delimiter of C comments')
  })

  test('constants are unsigned, and as wide as their word', () => {
    expect([constant(6), constant(0xffff_ffff), constant(1n << 40n), constant(1n, 64)]).toEqual([
      ...['0x6u', '0xffffffffu', '0x10000000000ULL', '0x1ULL'],
    ])
  })
})
