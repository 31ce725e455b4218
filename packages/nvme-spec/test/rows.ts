import { describe, expect, it } from 'vitest'
import type { BitsMap, FieldMap } from '../src/layout/index.js'

/** A word, or a field with rows, and the mask of each row in its figure. */
export type Rows = readonly [declared: { name: string; fields: BitsMap }, masks: Readonly<Record<string, bigint>>]

/** Checks that each row of each word has the bits of its mask, and that no word has other rows. */
export function describeRows(words: readonly Rows[]): void {
  describe.each(words.map(([declared, masks]) => ({ name: declared.name, declared, masks })))(
    '$name',
    ({ declared, masks }) => {
      it('declares the fields of its figure, no more and no fewer', () => {
        expect(Object.keys(declared.fields)).toEqual(Object.keys(masks))
      })

      it.each(Object.entries(masks))(
        '%s has the bits of its mask: its value is all ones for the mask and 0 for the complement',
        (name, mask) => {
          const handles = declared as unknown as Record<string, { of: (raw: number | bigint) => number | bigint }>
          const { of } = handles[name]!
          const ones = mask / (mask & -mask)
          expect(BigInt(of(mask))).toBe(ones)
          expect(BigInt(of(0xffff_ffff_ffff_ffffn & ~mask))).toBe(0n)
          if (mask <= 0xffff_ffffn && typeof of(mask) === 'number') expect(of(Number(mask))).toBe(Number(ones))
        },
      )
    },
  )
}

/** Returns a field of a structure as a word, for `describeRows`. */
export function wordOf(struct: { name: string; fields: FieldMap }, field: string): Rows[0] {
  const handle = (struct as unknown as Record<string, object>)[field]
  return { ...handle, name: `${struct.name}.${field}`, fields: struct.fields[field]!.rows }
}

/** Returns each field of a structure as [symbol, first byte, length], for comparison with the figure. */
export function places({ fields }: { fields: FieldMap }): [symbol: string, offset: number, lengthBytes: number][] {
  return Object.entries(fields).map(([name, { offset, lengthBytes }]) => [name, offset, lengthBytes])
}
