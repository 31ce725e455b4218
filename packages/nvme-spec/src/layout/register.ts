import type { BitsMap } from './bits.js'
import { word, type Facts, type Word } from './word.js'

/** Kinds of access in the specification's register figures. If a field differs from its register, its doc says so. */
export type Access = 'ro' | 'rw' | 'rw1s' | 'rw1c'

/** Facts of a register's declaration, beside its rows. */
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
