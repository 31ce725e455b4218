import type { BitsHandle, BitsMap, BitsValues, DecodedBits } from './bits.js'
import { checkLayout } from './check.js'
import { decodeFields, describeFields, encodeFields, type EncodeOptions } from './codec.js'
import type { Field, FieldValue } from './field.js'
import { handlesOf, type FieldFacts } from './handles.js'
import { place } from './placed.js'
import type { ReservedBytes } from './undeclared.js'
import type { Facts } from './word.js'

/** The fields of a structure, by name. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a field of any value type
export type FieldMap = Readonly<Record<string, Field<any>>>

/** Facts of a structure's declaration, beside its fields. */
export interface StructFacts extends Facts {
  readonly bytes: number
}

/**
 * A movable view of structures in memory: assigning to a field writes it, reading it loads it. It allocates no object
 * per structure. `at(index)` moves to the index-th structure of an array and returns the cursor.
 */
export interface Cursor {
  /** Moves to the index-th structure. @throws RangeError if the memory ends before that structure does. */
  at(index: number): this
}

/** The fields of a structure, as read and written through its cursor. */
export type Values<F extends FieldMap> = { -readonly [K in keyof F]: FieldValue<F[K]> }

/** Never present; carries the decoded and encodable types of a structured field. */
export interface Nested<D, E> {
  readonly decoded?: D
  readonly encodable?: E
}

/** Decoded type of a field: words with rows become objects, arrays of structures become arrays of objects. */
export type DecodedField<F> =
  F extends Nested<infer D, unknown> ? (unknown extends D ? DecodedWord<F> : D) : DecodedWord<F>

/** Decoded type of a field other than an array of structures: its value, or an object of its rows. */
export type DecodedWord<F> =
  F extends Field<infer T, infer B>
    ? keyof B extends never
      ? T
      : T extends number
        ? DecodedBits<B>
        : readonly DecodedBits<B>[]
    : never

/** Encodable type of a field: its value, or an object of its rows. */
export type EncodableField<F> =
  F extends Nested<unknown, infer E> ? (unknown extends E ? EncodableWord<F> : E) : EncodableWord<F>

/** Encodable type of a field other than an array of structures: its value, or an object of its rows. */
export type EncodableWord<F> =
  F extends Field<infer T, infer B>
    ? keyof B extends never
      ? T
      : T extends number
        ? T | BitsValues<B> | DecodedBits<B>
        : T | readonly (BitsValues<B> | DecodedBits<B>)[]
    : never

/** A structure as a plain object, independent of the memory it was decoded from. */
export type Decoded<F extends FieldMap> = { readonly [K in keyof F]: DecodedField<F[K]> } & {
  /** Set bits that no row declares, as the bytes that contain them; all other bits are zero. */
  readonly reserved?: readonly ReservedBytes[]
}

/** Values to encode a structure from: the result of `decode`, or a part of it. */
export type Encodable<F extends FieldMap> = { readonly [K in keyof F]: EncodableField<F[K]> } & {
  readonly reserved?: readonly ReservedBytes[]
}

/** A field's bit rows, bound, and its named values: `IdentifyController.OACS.FNVMS.of(view.OACS)`. */
export type FieldHandle<F> = F extends { readonly rows: infer B extends BitsMap; readonly values: infer V }
  ? { readonly [K in keyof B]: BitsHandle<B[K]> } & V & FieldFacts
  : never

/** Methods of every structure. */
export interface StructMethods<F extends FieldMap> extends StructFacts {
  readonly name: string
  readonly fields: F
  /** Returns a cursor; structure 0 is at byteOffset of `data`. @throws RangeError if `data` ends before it does. */
  view(data: DataView, byteOffset?: number): Cursor & Values<F>
  /** Returns one structure in new memory with these values; the rest is zero. @throws as `encode`. */
  create(values?: Partial<Encodable<F>>): Cursor & Values<F> & { readonly data: DataView }
  /**
   * Decodes the structure at byteOffset to a plain object. It is complete: words with rows are objects of their rows,
   * and set bits that no row declares are in `reserved`.
   * @throws RangeError if `data` ends before the structure does.
   */
  decode(data: DataView, byteOffset?: number): Decoded<F>
  /**
   * Writes a whole structure at byteOffset; missing values are zero. The inverse of `decode`, except that text is
   * padded as specified, and that values which the specification reserves are rejected unless `asFound` is set.
   * @throws TypeError or RangeError for a value that does not fit, naming the field; TypeError for an unknown name;
   *   RangeError if `data` ends before the structure does. Nothing is written then.
   */
  encode(data: DataView, byteOffset: number, values: Partial<Encodable<F>>, options?: EncodeOptions): void
  /**
   * Returns one `NAME=value` per field that is not zero, then set bits that no row declares, as `reserved[byte]=hex`.
   * @throws RangeError if `data` ends before the structure does.
   */
  describe(data: DataView, byteOffset?: number): string[]
}

/** A structure as declared by its figure. Its fields are properties too: `SQE.CID.offset`. */
export type Struct<F extends FieldMap = FieldMap> = StructMethods<F> & { readonly [K in keyof F]: FieldHandle<F[K]> }

/** Any structure, for code that looks structures up by number. */
export interface AnyStruct extends StructFacts {
  readonly name: string
  readonly fields: FieldMap
  /** Like `StructMethods.view`, without static field names. */
  view(data: DataView, byteOffset?: number): Cursor
  /** Like `StructMethods.decode`, without static field names. */
  decode(data: DataView, byteOffset?: number): Readonly<Record<string, unknown>>
  /** Like `StructMethods.encode`, without static field names. */
  encode(data: DataView, byteOffset: number, values: Readonly<Record<string, unknown>>, options?: EncodeOptions): void
  /** Like `StructMethods.describe`. */
  describe(data: DataView, byteOffset?: number): string[]
}

/** Declares a structure of `facts.bytes` bytes. @throws RangeError if rows overlap or exceed the structure. */
/*#__NO_SIDE_EFFECTS__*/
export function struct<const F extends FieldMap>(name: string, facts: StructFacts, fields: F): Struct<F> {
  const placed = place(name, facts, fields)
  checkLayout(placed)
  const { view } = placed
  const methods: StructMethods<F> = {
    ...placed,
    view,
    create(values = {}) {
      const data = new DataView(new ArrayBuffer(facts.bytes))
      encodeFields(placed, data, 0, values)
      return view(data)
    },
    decode: (data, byteOffset) => decodeFields(placed, data, byteOffset),
    encode: (data, byteOffset, values, options) => {
      encodeFields(placed, data, byteOffset, values, options)
    },
    describe: (data, byteOffset) => describeFields(placed, data, byteOffset),
  }
  return Object.freeze(handlesOf(fields, methods)) as unknown as Struct<F>
}
