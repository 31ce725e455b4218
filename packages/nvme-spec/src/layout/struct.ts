import {
  bindBits,
  decodeBits,
  encodeBits,
  formatBits,
  nameIn,
  type BitsHandle,
  type BitsMap,
  type BitsValues,
  type DecodedBits,
} from './bits.js'
import { cursorClasses, type CursorMethods } from './cursor.js'
import type { Field, FieldValue } from './field.js'
import type { Where } from './spec-ref.js'
import { declaredMask, undeclaredRuns, writeUndeclared, type ReservedBytes } from './undeclared.js'
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

type DecodedWord<F> =
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

type EncodableWord<F> =
  F extends Field<infer T, infer B>
    ? keyof B extends never
      ? T
      : T extends number
        ? T | BitsValues<B>
        : T | readonly BitsValues<B>[]
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
  ? { readonly [K in keyof B]: BitsHandle<B[K]> } & V &
      Pick<Field, 'offset' | 'lengthBytes' | 'doc'> & {
        /** The spec's name of a value of the field, or the number where it has none. */
        nameOf(value: number): string
      }
  : never

/** What a structure does, whatever its fields are. */
export interface StructMethods<F extends FieldMap> extends StructFacts {
  readonly name: string
  readonly fields: F
  /** A cursor whose structure 0 starts at byteOffset of `data`. @throws RangeError where `data` ends before it does. */
  view(data: DataView, byteOffset?: number): Cursor & Values<F>
  /** One structure in fresh, zeroed memory. */
  create(values?: Partial<Encodable<F>>): Cursor & Values<F> & { readonly data: DataView }
  /**
   * The structure at byteOffset as a plain object. Nothing is left out: words with rows are objects of their rows,
   * and bits that no row declares stand in `reserved`.
   * @throws RangeError where `data` ends before the structure does.
   */
  decode(data: DataView, byteOffset?: number): Decoded<F>
  /**
   * Writes a whole structure at byteOffset; what is not given is zero. The inverse of `decode`, but for text, which is
   * padded as the spec says, and for values of enumerations that the spec reserves, which are refused.
   * @throws TypeError or RangeError for a value that does not fit, naming the field; TypeError for an unknown name.
   */
  encode(data: DataView, byteOffset: number, values: Partial<Encodable<F>> | Decoded<F>): void
  /** One `NAME=value` a field that is not zero; then the bits that no row declares, as `reserved[bytes]=hex`. */
  describe(data: DataView, byteOffset?: number): string[]
}

/** A structure as its figure declares it. Its fields are properties too: `SQE.CID.offset`. */
export type Struct<F extends FieldMap = FieldMap> = StructMethods<F> & { readonly [K in keyof F]: FieldHandle<F[K]> }

/** Any structure, for code that meets structures by their number. */
export interface AnyStruct extends StructFacts {
  readonly name: string
  readonly fields: FieldMap
  view(data: DataView, byteOffset?: number): Cursor
  decode(data: DataView, byteOffset?: number): Readonly<Record<string, unknown>>
  encode(data: DataView, byteOffset: number, values: Readonly<Record<string, unknown>>): void
  describe(data: DataView, byteOffset?: number): string[]
}

const littleEndian = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1

/**
 * Declares a structure of `facts.bytes` bytes.
 * @throws RangeError when rows overlap or one leaves the structure.
 */
/*#__NO_SIDE_EFFECTS__*/
export function struct<const F extends FieldMap>(
  name: string,
  facts: StructFacts,
  fields: F,
  cursorMethods: CursorMethods = {},
): Struct<F> {
  const { bytes, spec } = facts
  const declared = declaredMask(name, bytes, fields)
  const { AnyCursor, AlignedCursor } = cursorClasses({ name, spec }, bytes, fields, cursorMethods)

  const need = (data: DataView, byteOffset: number) => {
    if (!(data instanceof DataView)) throw new TypeError(`${name}: expected a DataView, got ${typeof data} (${spec})`)
    if (Number.isInteger(byteOffset) && byteOffset >= 0 && byteOffset + bytes <= data.byteLength) return
    throw new RangeError(
      `${name} needs ${bytes} bytes at offset ${byteOffset}, the view has ${data.byteLength} (${spec})`,
    )
  }
  const view = (data: DataView, byteOffset = 0) => {
    need(data, byteOffset)
    const aligned = littleEndian && (data.byteOffset | byteOffset | bytes) % 8 === 0
    return new (aligned ? AlignedCursor : AnyCursor)(data, byteOffset, bytes, aligned) as unknown as Cursor &
      Values<F> & { readonly data: DataView }
  }
  const encode = (data: DataView, byteOffset: number, values: object) => {
    need(data, byteOffset)
    checkNames(name, fields, values)
    // Checked in memory of its own first, so that a refused value leaves nothing half written.
    const fresh = new DataView(new ArrayBuffer(bytes))
    for (const [key, value] of Object.entries(values)) {
      const where = { name: `${name}.${key}`, spec }
      if (key === 'reserved') writeUndeclared(where, declared, fresh, value)
      else encodeField(where, fields[key]!, fresh, value)
    }
    new Uint8Array(data.buffer, data.byteOffset + byteOffset, bytes).set(new Uint8Array(fresh.buffer))
  }

  const handles = Object.fromEntries(
    Object.entries(fields).map(([key, field]) => {
      const { offset, lengthBytes, elementBytes, doc, rows, values } = field
      const bound = bindBits(`${name}.${key}`, Math.min(elementBytes * 8, 32), rows)
      const nameOf = (value: number) => nameIn(field, value)
      return [key, Object.freeze({ ...bound, ...values, offset, lengthBytes, doc, nameOf })]
    }),
  )
  const methods: StructMethods<F> = {
    ...facts,
    name,
    fields,
    view,
    create(values = {}) {
      const data = new DataView(new ArrayBuffer(bytes))
      encode(data, 0, values)
      return view(data)
    },
    decode(data, byteOffset = 0) {
      need(data, byteOffset)
      const values: Record<string, unknown> = {}
      for (const [key, field] of Object.entries(fields)) values[key] = decodeField(field, data, byteOffset)
      const reserved = undeclaredRuns(declared, data, byteOffset)
      if (reserved.length > 0) values['reserved'] = reserved
      return values as Decoded<F>
    },
    encode,
    describe(data, byteOffset = 0) {
      need(data, byteOffset)
      const lines = Object.entries(fields).flatMap(([key, field]) => describeField(key, field, data, byteOffset))
      const reserved = undeclaredRuns(declared, data, byteOffset).map(
        (run) =>
          `reserved[${run.offset}]=${Array.from(run.bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`,
      )
      return [...lines, ...reserved]
    },
  }
  return Object.freeze({ ...handles, ...methods }) as unknown as Struct<F>
}

function decodeField(field: Field, data: DataView, base: number): unknown {
  const value = field.decode ? field.decode(data, base) : field.get(data, base)
  if (!hasRows(field)) return value
  if (typeof value === 'number') return decodeBits(value, field.rows)
  return Array.from(value as Uint32Array, (raw) => decodeBits(raw, field.rows))
}

function encodeField(where: Where, field: Field, data: DataView, value: unknown): void {
  const encode = field.encode ?? field.set
  encode(data, 0, hasRows(field) ? rawOf(where, field, value) : value, where)
}

/** A word, or an array of words, of which the rows may be given instead. */
function rawOf(where: Where, field: Field, value: unknown): unknown {
  const word = (rows: unknown) =>
    typeof rows === 'object' && rows !== null
      ? Number(encodeBits(where, field.elementBytes * 8, field.rows, rows, 0n))
      : rows
  return Array.isArray(value)
    ? Uint32Array.from(value, (rows) => word(rows) as number)
    : ArrayBuffer.isView(value)
      ? value
      : word(value)
}

function describeField(key: string, field: Field, data: DataView, base: number): string[] {
  for (let at = 0; ; at++) {
    // Zero is what a field holds that nobody set; a field is left out by its bytes, whatever they mean.
    if (at === field.lengthBytes) return []
    if (field.bits ? field.get(data, base) !== 0 : data.getUint8(base + field.offset + at) !== 0) break
  }
  if (field.describe) return field.describe(key, data, base)
  const value = field.decode ? field.decode(data, base) : field.get(data, base)
  if (!hasRows(field)) return [`${key}=${field.format(value)}`]
  if (typeof value === 'number') return [`${key}={ ${formatBits(value, field.rows)} }`]
  return Array.from(value as Uint32Array, (raw, i) =>
    raw === 0 ? '' : `${key}[${i}]={ ${formatBits(raw, field.rows)} }`,
  ).filter((line) => line !== '')
}

function hasRows(field: Field): boolean {
  return Object.keys(field.rows).length > 0
}

/** @throws TypeError for a name that is no field's: on a plain object it would be lost without a word. */
function checkNames(name: string, fields: FieldMap, values: object): void {
  for (const key of Object.keys(values)) {
    if (key !== 'reserved' && !Object.hasOwn(fields, key)) {
      throw new TypeError(`${name} has no field ${key}; its fields: ${Object.keys(fields).join(' ')}`)
    }
  }
}
