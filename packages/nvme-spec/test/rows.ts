import { describe, expect, it } from 'vitest'
import type { BitsMap, FieldMap } from '../src/layout/index.js'

/** A word, or a field of a structure that has rows, beside the mask of each of its rows as the figure places it. */
export type Rows = readonly [declared: { name: string; fields: BitsMap }, masks: Readonly<Record<string, bigint>>]

/** Each row of each word stands at the bits of its mask, and no word has other rows. */
export function describeRows(words: readonly Rows[]): void {
  describe.each(words.map(([declared, masks]) => ({ name: declared.name, declared, masks })))(
    '$name',
    ({ declared, masks }) => {
      it('declares the fields of its figure, no more and no fewer', () => {
        expect(Object.keys(declared.fields)).toEqual(Object.keys(masks))
      })

      it.each(Object.entries(masks))(
        '%s stands at its bits: alone it reads as all ones, in the rest as zero',
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

/** A field of a structure as a word, for `describeRows`. */
export function wordOf(struct: { name: string; fields: FieldMap }, field: string): Rows[0] {
  const handle = (struct as unknown as Record<string, object>)[field]
  return { ...handle, name: `${struct.name}.${field}`, fields: struct.fields[field]!.rows }
}

/** Each field of a structure as [symbol, first byte, length], to be compared with the figure. */
export function places({ fields }: { fields: FieldMap }): [symbol: string, offset: number, lengthBytes: number][] {
  return Object.entries(fields).map(([name, { offset, lengthBytes }]) => [name, offset, lengthBytes])
}
