import type { BitsMap, None } from './bits.js'
import type { AnyStruct } from './struct.js'
import { word32, type AnyWord32, type Facts, type Word } from './word.js'

/** The dwords that a feature may give rows to: of Set Features, and Dword 0 of the completion of Get Features. */
export type FeatureDword = 'CDW11' | 'CDW12' | 'CDW13' | 'CDW14' | 'CDW15' | 'DW0'

/** What a feature's declaration says of it beside its rows. */
export interface FeatureFacts<D extends AnyStruct | undefined = AnyStruct | undefined> extends Facts {
  /** Feature Identifier. */
  readonly fid: number
  /** What the command transfers, where it transfers data. */
  readonly data?: D
}

/** The rows of a feature's dwords, by the dword's name; dwords that have none are left out. */
export type FeatureRows = Readonly<Partial<Record<FeatureDword, BitsMap>>>

/**
 * A feature as its figures declare it, a word for each dword that has rows:
 * `entry.CDW11 = Arbitration.CDW11.encode({ AB: 3 })`. Dword 0 of a Get Features completion has the rows of
 * Command Dword 11 unless the spec gives it others.
 */
export type Feature<
  W extends FeatureRows = FeatureRows,
  D extends AnyStruct | undefined = AnyStruct | undefined,
> = FeatureFacts<D> & {
  readonly name: string
} & { readonly [K in keyof W]: Word<32, W[K] extends BitsMap ? W[K] : None> } & (W extends { DW0: BitsMap }
    ? unknown
    : W extends { CDW11: infer R extends BitsMap }
      ? { readonly DW0: Word<32, R> }
      : unknown)

/** Any feature, for code that meets features by their identifier. */
export type AnyFeature = FeatureFacts & { readonly name: string } & {
  readonly [K in FeatureDword]?: AnyWord32
}

/** Declares a feature of Set and Get Features by the rows of its dwords. @throws RangeError when rows overlap. */
/*#__NO_SIDE_EFFECTS__*/
export function feature<const W extends FeatureRows, D extends AnyStruct | undefined = undefined>(
  name: string,
  facts: FeatureFacts<D>,
  dwords: W,
): Feature<W, D> {
  const { doc, spec } = facts
  const rows: FeatureRows = dwords
  const all: FeatureRows = rows.CDW11 === undefined || rows.DW0 !== undefined ? rows : { ...rows, DW0: rows.CDW11 }
  const words = Object.entries(all).map(([key, fields]) => [key, word32(`${name}.${key}`, { doc, spec }, fields)])
  return Object.freeze({ ...facts, ...Object.fromEntries(words), name }) as Feature<W, D>
}
