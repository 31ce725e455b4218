import { expect, test } from 'vitest'
import { ggmlTypeId, isOpaqueGgmlType } from './ggml-types.js'
import { GGML_TYPES, ggmlTypeById, ggmlTypeByName, ggmlTypeName } from './index.js'

test('blockBytes is the sum of scales, minima and packed quants', () => {
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

/**
 * Number, name, elements and bytes of a block, printed from GGML_QUANT_SIZES of gguf-py 0.19.0. Two rows are omitted:
 * gguf-py has 40 bytes for Q8_1, from when its scales were floats (block_q8_1 of ggml has two halves and 32 bytes),
 * and it lacks Q2_0 (block_q2_0 of ggml: a half and 64 quants of 2 bits).
 */
const BY_GGUF_PY = `
0 F32 1 4
1 F16 1 2
2 Q4_0 32 18
3 Q4_1 32 20
6 Q5_0 32 22
7 Q5_1 32 24
8 Q8_0 32 34
10 Q2_K 256 84
11 Q3_K 256 110
12 Q4_K 256 144
13 Q5_K 256 176
14 Q6_K 256 210
15 Q8_K 256 292
16 IQ2_XXS 256 66
17 IQ2_XS 256 74
18 IQ3_XXS 256 98
19 IQ1_S 256 50
20 IQ4_NL 32 18
21 IQ3_S 256 110
22 IQ2_S 256 82
23 IQ4_XS 256 136
24 I8 1 1
25 I16 1 2
26 I32 1 4
27 I64 1 8
28 F64 1 8
29 IQ1_M 256 56
30 BF16 1 2
34 TQ1_0 256 54
35 TQ2_0 256 66
39 MXFP4 32 17
40 NVFP4 64 36
41 Q1_0 128 18
`

test('numbers, names and blocks match gguf-py, except for two that match ggml', () => {
  const ours = GGML_TYPES.map(
    ({ id, name, blockElements, blockBytes }) => `${id} ${name} ${blockElements} ${blockBytes}`,
  )
  const theirs = BY_GGUF_PY.trim().split('\n')
  expect(theirs.filter((row) => !ours.includes(row))).toEqual([])
  expect(ours.filter((row) => !theirs.includes(row))).toEqual(['9 Q8_1 32 36', '42 Q2_0 64 18'])
})

test('ids and names are unique, and both look up the same type', () => {
  expect(new Set(GGML_TYPES.map(({ id }) => id)).size).toBe(GGML_TYPES.length)
  for (const type of GGML_TYPES) {
    expect(ggmlTypeById(type.id)).toBe(type)
    expect(ggmlTypeByName(type.name)).toBe(type)
  }
})

test('retired ids have a name but no type; unknown ids are named by number', () => {
  expect([4, 5, 31, 32, 33, 36, 37, 38].map(ggmlTypeById)).toEqual(Array.from({ length: 8 }, () => undefined))
  expect(ggmlTypeName(5)).toBe('Q4_3 (retired)')
  expect(ggmlTypeName(12)).toBe('Q4_K')
  expect(ggmlTypeName(77)).toBe('type 77')
})

test('ggmlTypeId inverts ggmlTypeName, and returns undefined for other names', () => {
  // 344 is IQ4_KS_R4 of ik_llama.cpp.
  for (const id of [0, 12, 5, 31, 77, 344, 0xffff_ffff]) expect(ggmlTypeId(ggmlTypeName(id))).toBe(id)
  for (const name of ['Q9', 'type', 'type 12', 'type 5', 'type 007', 'type 4294967296', 'Q9 (retired)']) {
    expect([name, ggmlTypeId(name)]).toEqual([name, undefined])
  }
  expect(['Q4_K', 'Q4_2 (retired)', 'type 344', 'F32'].map(isOpaqueGgmlType)).toEqual([false, true, true, false])
})
