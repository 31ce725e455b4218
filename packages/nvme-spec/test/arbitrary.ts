import fc from 'fast-check'
import type { BitsMap, FieldMap } from '../src/layout/index.js'

/** Any value that a row may hold, for some or all of the rows of a word. */
export function bitValues(rows: BitsMap): fc.Arbitrary<Partial<Record<string, number | bigint>>> {
  return fc.record(
    Object.fromEntries(
      Object.entries(rows).map(([name, { msb, lsb, values, wide }]) => {
        const named = Object.values(values)
        if (named.length > 0) return [name, fc.constantFrom(...named)]
        const max = (1n << BigInt(msb - lsb + 1)) - 1n
        return [name, wide ? fc.bigInt(0n, max) : fc.integer({ min: 0, max: Number(max) })]
      }),
    ),
    { requiredKeys: [] },
  )
}

/** Any values of a structure's integer fields, for some or all of them. */
export function fieldValues(fields: FieldMap): fc.Arbitrary<Partial<Record<string, number>>> {
  return fc.record(
    Object.fromEntries(
      Object.entries(fields).map(([name, { values, bits, lengthBytes }]) => {
        const named = Object.values(values)
        if (named.length > 0) return [name, fc.constantFrom(...named)]
        const width = bits ? bits.msb - bits.lsb + 1 : lengthBytes * 8
        return [name, width > 32 ? fc.maxSafeNat() : fc.integer({ min: 0, max: 2 ** width - 1 })]
      }),
    ),
    { requiredKeys: [] },
  )
}
