import type { BitsMap, None } from './bits.js'
import type { AnyStruct } from './struct.js'
import { word32, type AnyWord32, type Facts, type Word } from './word.js'

/** Dwords for which a feature may declare rows: those of Set Features, and Dword 0 of a Get Features completion. */
export type FeatureDword = 'CDW11' | 'CDW12' | 'CDW13' | 'CDW14' | 'CDW15' | 'DW0'

/** Facts of a feature's declaration, beside its rows. */
export interface FeatureFacts<D extends AnyStruct | undefined = AnyStruct | undefined> extends Facts {
  /** Feature Identifier. */
  readonly fid: number
  /** Structure of the transferred data, if the command transfers data. */
  readonly data?: D
}

/** The rows of a feature's dwords, by name; dwords without rows are omitted. */
export type FeatureRows = Readonly<Partial<Record<FeatureDword, BitsMap>>>

/**
 * A feature as declared by its figures, with a word for each dword that has rows: `entry.CDW11 =
 * Arbitration.CDW11.encode({ AB: 3 })`. Dword 0 of a Get Features completion has the rows of Command Dword 11 unless
 * the specification defines others.
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

/** Any feature, for code that looks features up by identifier. */
export type AnyFeature = FeatureFacts & { readonly name: string } & {
  readonly [K in FeatureDword]?: AnyWord32
}

/** Declares a feature of Set and Get Features by the rows of its dwords. @throws RangeError if rows overlap. */
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
