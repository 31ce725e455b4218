import type { BitsMap } from './bits.js'
import { word, type Facts, type Word } from './word.js'

/** Every kind of access that the spec's register figures use; a field's own kind is in its row's doc. */
export type Access = 'ro' | 'rw' | 'rw1s' | 'rw1c'

/** What a register's declaration says of it beside its rows. */
export interface RegisterFacts<A extends Access = Access> extends Facts {
  /** Byte offset in the controller's registers (BAR0). */
  readonly offset: number
  readonly access: A
}

/** A register as its figure declares it. Its fields are properties: `CC.SHN.NORMAL`, `CSTS.RDY.of(raw)`. */
export type Register<W extends 32 | 64 = 32 | 64, A extends Access = Access, F extends BitsMap = BitsMap> = Word<W, F> &
  RegisterFacts<A>

/** Any register, for code that meets registers by their place. */
export interface AnyRegister extends RegisterFacts {
  readonly name: string
  readonly widthBits: 32 | 64
  readonly fields: BitsMap
  /** As `WordMethods.decode`, for fields that are not known by name. */
  decode(raw: number | bigint): Readonly<Record<string, unknown>>
  /** As `WordMethods.encode`, for fields that are not known by name. */
  encode(values: Readonly<Record<string, number | bigint>>, base?: number | bigint): number | bigint
  /** As `WordMethods.format`. */
  format(raw: number | bigint): string
}

/** Declares a 32-bit register, a number, by the rows of its figure. @throws RangeError when rows overlap or leave it. */
/*#__NO_SIDE_EFFECTS__*/
export function register32<A extends Access, const F extends BitsMap>(
  name: string,
  facts: RegisterFacts<A>,
  fields: F,
): Register<32, A, F> {
  return word(name, 32, facts, fields)
}

/** Declares a 64-bit register, a bigint, by the rows of its figure. @throws RangeError when rows overlap or leave it. */
/*#__NO_SIDE_EFFECTS__*/
export function register64<A extends Access, const F extends BitsMap>(
  name: string,
  facts: RegisterFacts<A>,
  fields: F,
): Register<64, A, F> {
  return word(name, 64, facts, fields)
}
