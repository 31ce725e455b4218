import { nameIn } from './bits.js'
import type { Field } from './field.js'
import type { FieldMap } from './struct.js'

/** What a declaration's property of a field's name says of it, beside its named values. */
export interface FieldFacts extends Pick<Field, 'offset' | 'lengthBytes' | 'doc'> {
  /** The spec's name of a value of the field, or the number where it has none. */
  nameOf(value: number): string
}

/** The properties of a declaration that stand for its fields; `more` gives those of a field that has rows. */
export function handlesOf(
  fields: FieldMap,
  more: (key: string, field: Field) => object = () => ({}),
): Record<string, object> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, field]) => {
      const { offset, lengthBytes, doc, values } = field
      const nameOf = (value: number) => nameIn(field, value)
      return [key, Object.freeze({ ...more(key, field), ...values, offset, lengthBytes, doc, nameOf })]
    }),
  )
}
