import { field, type Field } from './field.js'
import { refuse } from './spec-ref.js'
import type { Cursor, Decoded, Encodable, FieldMap, Nested, Struct, Values } from './struct.js'
import type { None } from './bits.js'

/** A field of equal structures in a row. */
export type StructsField<F extends FieldMap> = Field<Cursor & Values<F>, None, None> &
  Nested<readonly Decoded<F>[], readonly Partial<Encodable<F>>[]> & {
    readonly struct: Struct<F>
    readonly count: number
  }

/**
 * Declares `count` structures in a row. Reading gives a cursor over them, which is how they are written as well:
 * `view.PSD.at(3).MP = 250`. Decoded they are an array; encoded from one, those not given are zero.
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
          refuse(where, doc, 'to be written through at(index)', value)
        },
      },
    ),
    struct: of,
    count,
  }
}
