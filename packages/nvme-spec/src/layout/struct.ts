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

/** What a structure's declaration says of it beside its fields. */
export interface StructFacts extends Facts {
  readonly bytes: number
}

/**
 * A moving view of structures that lie in memory: assigning to a field writes it, reading it loads it, and no
 * object is made per structure. `at(index)` moves to the index-th structure of an array and returns the cursor.
 */
export interface Cursor {
  /** Moves to the index-th structure. @throws RangeError where the memory ends before that structure does. */
  at(index: number): this
}

/** The fields of a structure as its cursor gives them. */
export type Values<F extends FieldMap> = { -readonly [K in keyof F]: FieldValue<F[K]> }

/** Never present; what decoding a field that is itself structured gives, and what encoding it takes. */
export interface Nested<D, E> {
  readonly decoded?: D
  readonly encodable?: E
}

/** What decoding a field gives: words with rows become objects, arrays of structures arrays of objects. */
export type DecodedField<F> =
  F extends Nested<infer D, unknown> ? (unknown extends D ? DecodedWord<F> : D) : DecodedWord<F>

/** What decoding a field gives that is no array of structures: its value, or an object of its rows. */
export type DecodedWord<F> =
  F extends Field<infer T, infer B>
    ? keyof B extends never
      ? T
      : T extends number
        ? DecodedBits<B>
        : readonly DecodedBits<B>[]
    : never

/** What may be given for a field: its value, or an object of its rows. */
export type EncodableField<F> =
  F extends Nested<unknown, infer E> ? (unknown extends E ? EncodableWord<F> : E) : EncodableWord<F>

/** What may be given for a field that is no array of structures: its value, or an object of its rows. */
export type EncodableWord<F> =
  F extends Field<infer T, infer B>
    ? keyof B extends never
      ? T
      : T extends number
        ? T | BitsValues<B> | DecodedBits<B>
        : T | readonly (BitsValues<B> | DecodedBits<B>)[]
    : never

/** A structure as a plain object, which outlives the memory it was decoded from. */
export type Decoded<F extends FieldMap> = { readonly [K in keyof F]: DecodedField<F[K]> } & {
  /** Bits that no row declares, where any is set: the bytes that hold them, all other bits zero. */
  readonly reserved?: readonly ReservedBytes[]
}

/** What a structure may be encoded from: what `decode` gives, or a part of it. */
export type Encodable<F extends FieldMap> = { readonly [K in keyof F]: EncodableField<F[K]> } & {
  readonly reserved?: readonly ReservedBytes[]
}

/** A field's own bit rows, bound: `IdentifyController.OACS.FNVMS.of(view.OACS)`; and its named values. */
export type FieldHandle<F> = F extends { readonly rows: infer B extends BitsMap; readonly values: infer V }
  ? { readonly [K in keyof B]: BitsHandle<B[K]> } & V & FieldFacts
  : never

/** What a structure does, whatever its fields are. */
export interface StructMethods<F extends FieldMap> extends StructFacts {
  readonly name: string
  readonly fields: F
  /** A cursor whose structure 0 starts at byteOffset of `data`. @throws RangeError where `data` ends before it does. */
  view(data: DataView, byteOffset?: number): Cursor & Values<F>
  /**
   * One structure in fresh memory, with these values; the rest is zero.
   * @throws as `encode`.
   */
  create(values?: Partial<Encodable<F>>): Cursor & Values<F> & { readonly data: DataView }
  /**
   * The structure at byteOffset as a plain object. Nothing is left out: words with rows are objects of their rows,
   * and bits that no row declares stand in `reserved`.
   * @throws RangeError where `data` ends before the structure does.
   */
  decode(data: DataView, byteOffset?: number): Decoded<F>
  /**
   * Writes a whole structure at byteOffset; what is not given is zero. The inverse of `decode`, but for text, which is
   * padded as the spec says, and for values of enumerations that the spec reserves, which are refused unless `asFound`
   * is set.
   * @throws TypeError or RangeError for a value that does not fit, naming the field, TypeError for an unknown name,
   *   RangeError where `data` ends before the structure does; nothing is written then.
   */
  encode(data: DataView, byteOffset: number, values: Partial<Encodable<F>>, options?: EncodeOptions): void
  /**
   * One `NAME=value` a field that is not zero; then the bits that no row declares, as `reserved[byte]=hex`.
   * @throws RangeError where `data` ends before the structure does.
   */
  describe(data: DataView, byteOffset?: number): string[]
}

/** A structure as its figure declares it. Its fields are properties too: `SQE.CID.offset`. */
export type Struct<F extends FieldMap = FieldMap> = StructMethods<F> & { readonly [K in keyof F]: FieldHandle<F[K]> }

/** Any structure, for code that meets structures by their number. */
export interface AnyStruct extends StructFacts {
  readonly name: string
  readonly fields: FieldMap
  /** As `StructMethods.view`, for fields that are not known by name. */
  view(data: DataView, byteOffset?: number): Cursor
  /** As `StructMethods.decode`, for fields that are not known by name. */
  decode(data: DataView, byteOffset?: number): Readonly<Record<string, unknown>>
  /** As `StructMethods.encode`, for fields that are not known by name. */
  encode(data: DataView, byteOffset: number, values: Readonly<Record<string, unknown>>, options?: EncodeOptions): void
  /** As `StructMethods.describe`. */
  describe(data: DataView, byteOffset?: number): string[]
}

/**
 * Declares a structure of `facts.bytes` bytes.
 * @throws RangeError when rows overlap or one leaves the structure.
 */
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
