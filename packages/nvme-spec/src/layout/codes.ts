import { nameIn, type NamedValues } from './bits.js'
import type { Facts } from './word.js'

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
