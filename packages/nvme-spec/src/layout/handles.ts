import { loadBits, nameIn, type BitsHandle, type BitsMap } from './bits.js'
import type { Field } from './field.js'
import type { FieldMap } from './struct.js'

/** What a declaration's property of a field's name says of it, beside its named values. */
export interface FieldFacts extends Pick<Field, 'offset' | 'lengthBytes' | 'doc'> {
  /** The spec's name of a value of the field, or the number where it has none. */
  nameOf(value: number): string
}

/** A structure's `methods`, and the properties that stand for its fields and for the rows of those that have some. */
export function handlesOf<M extends object>(fields: FieldMap, methods: M): M {
  return lazily(fields, methods, (_key, field) => {
    const { offset, lengthBytes, doc, rows, values } = field
    const nameOf = (value: number) => nameIn(field, value)
    return { ...bindRows(rows), ...values, offset, lengthBytes, doc, nameOf }
  })
}

/** A word's `methods`, if any, and its rows, bound: they were checked. */
export function bindRows<F extends BitsMap, M extends object>(
  rows: F,
  methods = {} as M,
): M & { readonly [K in keyof F]: BitsHandle<F[K]> } {
  return lazily(rows, methods, (name, row) => {
    const { msb, lsb, doc, values } = row
    const of = (raw: number | bigint) => loadBits(raw, row)
    const nameOf = (value: number) => nameIn(row, value)
    return { ...values, name, msb, lsb, doc, values, of, nameOf }
  }) as M & { readonly [K in keyof F]: BitsHandle<F[K]> }
}

/** Gives an object properties that are made when they are first read: a program reads few of those that it imports. */
function lazily<M extends object, D>(
  of: Readonly<Record<string, D>>,
  methods: M,
  make: (key: string, declared: D) => object,
): M {
  for (const key in of) {
    let made: object | undefined
    Object.defineProperty(methods, key, { get: () => (made ??= Object.freeze(make(key, of[key]!))), enumerable: true })
  }
  return methods
}
