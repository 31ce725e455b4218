import { loadBits, nameIn, type BitsHandle, type BitsMap } from './bits.js'
import type { Field } from './field.js'
import type { FieldMap } from './struct.js'

/** Facts of a declaration's field property, beside its named values. */
export interface FieldFacts extends Pick<Field, 'offset' | 'lengthBytes' | 'doc'> {
  /** Returns the specification's name of a value of the field, or the number if it has none. */
  nameOf(value: number): string
}

/**
 * Returns a structure's `methods` with properties for its fields and their rows. Properties are created on first
 * access, since a program uses few of them.
 */
export function handlesOf<M extends object>(fields: FieldMap, methods: M): M {
  for (const key in fields) {
    let made: object | undefined
    Object.defineProperty(methods, key, { get: () => (made ??= handleOf(fields[key]!)), enumerable: true })
  }
  return methods
}

function handleOf(field: Field): object {
  const { offset, lengthBytes, doc, rows, values } = field
  const nameOf = (value: number) => nameIn(field, value)
  return Object.freeze({ ...bindRows(rows), ...values, offset, lengthBytes, doc, nameOf })
}

/** Binds the rows of one word, which are already checked. Done eagerly, since registers are read in loops. */
export function bindRows<F extends BitsMap>(rows: F): { readonly [K in keyof F]: BitsHandle<F[K]> } {
  const handles: Record<string, unknown> = {}
  for (const name in rows) {
    const row = rows[name]!
    const { msb, lsb, doc, values } = row
    const of = (raw: number | bigint) => loadBits(raw, row)
    const nameOf = (value: number) => nameIn(row, value)
    handles[name] = Object.freeze({ ...values, name, msb, lsb, doc, values, of, nameOf })
  }
  return handles as { readonly [K in keyof F]: BitsHandle<F[K]> }
}
