import { field, type Field } from './field.js'
import { refuse } from './spec-ref.js'
import type { Cursor, Decoded, Encodable, FieldMap, Nested, Struct, Values } from './struct.js'
import type { None } from './bits.js'

/** A field that is an array of structures. */
export type StructsField<F extends FieldMap> = Field<Cursor & Values<F>, None, None> &
  Nested<readonly Decoded<F>[], readonly Partial<Encodable<F>>[]> & {
    readonly struct: Struct<F>
    readonly count: number
  }

/**
 * Declares an array of `count` structures. Reading returns a cursor, which is also used for writing: `view.PSD.at(3).MP
 * = 250`. Decoded they are an array; when an array is encoded, missing elements are zero.
 */
/*#__NO_SIDE_EFFECTS__*/
export function structs<const F extends FieldMap>(
  offset: number,
  count: number,
  of: Struct<F>,
  doc: string,
): StructsField<F> {
  const lengthBytes = count * of.bytes
  return {
    ...field<Cursor & Values<F>>(
      offset,
      lengthBytes,
      doc,
      {},
      {
        kind: 'structs',
        elementBytes: of.bytes,
        get: (data, base) => of.view(new DataView(data.buffer, data.byteOffset + base + offset, lengthBytes)),
        set(_data, _base, value, where) {
          refuse(where, doc, 'an assignment through at(index)', value)
        },
      },
    ),
    struct: of,
    count,
  }
}
