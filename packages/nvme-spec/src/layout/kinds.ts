// Declarations of registers and features, which consist of words, and of tables of numbers.
import { nameIn, type NamedValues } from './access.js'
import type { Facts } from './facts.js'
import type { BitsMap, None } from './rows.js'
import type { AnyStruct } from './structs.js'
import { word, word32, type AnyWord32, type Word } from './words.js'

/** Kinds of access in the specification's register figures. If a field differs from its register, its doc says so. */
export type Access = 'ro' | 'rw' | 'rw1s' | 'rw1c'

/** Properties of a register's declaration, other than its rows. */
export interface RegisterFacts<A extends Access = Access> extends Facts {
  /** Byte offset in the controller's registers (BAR0). */
  readonly offset: number
  readonly access: A
}

/** A register as declared by its figure. Its fields are properties: `CC.SHN.NORMAL`, `CSTS.RDY.of(raw)`. */
export type Register<W extends 32 | 64 = 32 | 64, A extends Access = Access, F extends BitsMap = BitsMap> = Word<W, F> &
  RegisterFacts<A>

/** Any register, for code that looks registers up by offset. */
export interface AnyRegister extends RegisterFacts {
  readonly name: string
  readonly widthBits: 32 | 64
  readonly fields: BitsMap
  /** Like `WordMethods.decode`, without static field names. */
  decode(raw: number | bigint): Readonly<Record<string, unknown>>
  /** Like `WordMethods.encode`, without static field names. */
  encode(values: Readonly<Record<string, number | bigint>>, base?: number | bigint): number | bigint
  /** Like `WordMethods.format`. */
  format(raw: number | bigint): string
}

/** Declares a 32-bit register, a number, by the rows of its figure. @throws RangeError if rows overlap or exceed it. */
/*#__NO_SIDE_EFFECTS__*/
export function register32<A extends Access, const F extends BitsMap>(
  name: string,
  facts: RegisterFacts<A>,
  fields: F,
): Register<32, A, F> {
  return word(name, 32, facts, fields)
}

/** Declares a 64-bit register, a bigint, by the rows of its figure. @throws RangeError if rows overlap or exceed it. */
/*#__NO_SIDE_EFFECTS__*/
export function register64<A extends Access, const F extends BitsMap>(
  name: string,
  facts: RegisterFacts<A>,
  fields: F,
): Register<64, A, F> {
  return word(name, 64, facts, fields)
}

/** A table of numbers assigned by the specification: opcodes, identifiers, types. */
export type Codes<V extends NamedValues> = V & AnyCodes & { readonly values: V }

/** Any table of numbers. */
export interface AnyCodes extends Facts {
  readonly name: string
  readonly values: NamedValues
  /** Returns the specification's name of a number in upper case, or the number in hexadecimal if it has none. */
  nameOf(value: number): string
}

/** Declares a table of numbers: `CNS.CONTROLLER`, `CNS.nameOf(1)`. */
/*#__NO_SIDE_EFFECTS__*/
export function codes<const V extends NamedValues>(name: string, facts: Facts, values: V): Codes<V> {
  const nameOf = (value: number) => nameIn({ values, open: true }, value)
  return Object.freeze({ ...values, ...facts, name, values, nameOf })
}

/** Dwords for which a feature may declare rows: those of Set Features, and Dword 0 of a Get Features completion. */
export type FeatureDword = 'CDW11' | 'CDW12' | 'CDW13' | 'CDW14' | 'CDW15' | 'DW0'

/** Properties of a feature's declaration, other than its rows. */
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
