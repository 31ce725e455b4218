import { expect, test } from 'vitest'
import { GGML_TYPES, ggmlTypeById, ggmlTypeByName, ggmlTypeName } from './index.js'

test('a block has the bytes of its parts: scales, minima and packed quants', () => {
  const bytes = (name: string): number | undefined => ggmlTypeByName(name)?.blockBytes
  expect(bytes('Q4_0')).toBe(2 + 32 / 2)
  expect(bytes('Q4_1')).toBe(2 + 2 + 32 / 2)
  expect(bytes('Q5_0')).toBe(2 + 4 + 32 / 2)
  expect(bytes('Q8_0')).toBe(2 + 32)
  expect(bytes('Q2_K')).toBe(256 / 16 + 256 / 4 + 2 + 2)
  expect(bytes('Q4_K')).toBe(2 + 2 + 12 + 256 / 2)
  expect(bytes('Q6_K')).toBe(256 / 2 + 256 / 4 + 256 / 16 + 2)
  expect(bytes('Q8_K')).toBe(4 + 256 + (2 * 256) / 16)
  expect(bytes('MXFP4')).toBe(1 + 32 / 2)
})

test('ids and names are each given once, and find the same type', () => {
  expect(new Set(GGML_TYPES.map(({ id }) => id)).size).toBe(GGML_TYPES.length)
  for (const type of GGML_TYPES) {
    expect(ggmlTypeById(type.id)).toBe(type)
    expect(ggmlTypeByName(type.name)).toBe(type)
  }
})

test('retired ids are known by name and have no blocks; others are known by number', () => {
  expect([4, 5, 31, 32, 33, 36, 37, 38].map(ggmlTypeById)).toEqual(Array.from({ length: 8 }, () => undefined))
  expect(ggmlTypeName(5)).toBe('Q4_3 (retired)')
  expect(ggmlTypeName(12)).toBe('Q4_K')
  expect(ggmlTypeName(77)).toBe('type 77')
})
