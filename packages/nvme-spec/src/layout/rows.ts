import {
  big,
  big128,
  byte,
  dword,
  half,
  long,
  long48,
  octets,
  part,
  text,
  words,
  type Codec,
  type NamedValues,
  type Placed,
} from './access.js'
import { checkInteger, describeValue, type SpecRef } from './facts.js'

declare const zeroBasedBrand: unique symbol

/**
 * A 0's based value as on the wire: 0 means one. The brand prevents storing a plain count where the wire needs count -
 * 1, and vice versa. Convert only with `zeroBased` and `countOf`.
 */
export type ZeroBased = number & { readonly [zeroBasedBrand]: true }

/**
 * Returns the 0's based value of a count of at least one. `encode` rejects a
 * value that does not fit its field.
 * @throws RangeError if the count is not a positive safe integer, TypeError if it is not a number.
 */
export function zeroBased(count: number): ZeroBased {
  if (!Number.isSafeInteger(count) || count < 1) {
    const Kind = typeof count === 'number' ? RangeError : TypeError
    throw new Kind(`expected a count of at least 1, got ${describeValue(count)}`)
  }
  return (count - 1) as ZeroBased
}

/**
 * Returns the count of a 0's based value: one more than the value.
 * @throws RangeError if the value is not an integer of at least 0, TypeError if it is not a number.
 */
export function countOf(value: ZeroBased): number {
  checkInteger("0's based value", value, 0)
  return value + 1
}

/** No rows, or no named values. */
export type None = Readonly<Record<never, never>>

const none: None = {}

/**
 * One row of a figure: bits msb:lsb of a word. `T` is the type that may be stored; reading an enumerated row gives a
 * plain number, since a device may return a reserved value.
 */
export interface Bits<T = unknown, V extends NamedValues = NamedValues> {
  readonly msb: number
  readonly lsb: number
  readonly doc: string
  readonly values: V
  /** Values without a name may be stored: vendors and later revisions define their own. */
  readonly open?: boolean
  readonly zeroBased?: boolean
  /** Declared by `wideBits`: a bigint. */
  readonly wide?: boolean
  /**
   * Whether it is printed in hexadecimal with leading zeroes. If undefined, integers of more than 32 bits are
   * addresses, printed in hexadecimal without leading zeroes.
   */
  readonly hex?: boolean
  /** Never present; carries the stored type. */
  readonly stores?: T
}

/** The rows of a word, by name. */
export type BitsMap = Readonly<Record<string, Bits>>

/** What a field's bytes contain, for generators of declarations in other languages. */
export type FieldKind = 'integer' | 'integers' | 'text' | 'bytes' | 'structs'

/** One row of a structure's figure: a word in memory, a part of one, text, bytes or an array. */
export interface Field<T = unknown, B extends BitsMap = BitsMap, V extends NamedValues = NamedValues>
  extends Bits<T, V>, Placed {
  readonly kind: FieldKind
  /** Access to the value in memory. */
  readonly codec: Codec
  readonly values: V
  /** The rows inside the field's word, if the specification defines any. */
  readonly rows: B
}

/** The fields of a structure, by name. */
// oxlint-disable-next-line typescript/no-explicit-any -- a field of any value type
export type FieldMap = Readonly<Record<string, Field<any>>>

/** Fields at offsets: a command, or a structure. */
export interface Layout {
  /** The specification's name, with which errors begin. */
  readonly name: string
  readonly bytes: number
  readonly spec: SpecRef
  readonly fields: FieldMap
}

/** Type of the values that may be stored in a row. */
export type Stored<B> = B extends Bits<infer T> ? T : never

/** Type of the values of a field, as read and written through a cursor. */
export type FieldValue<F> = Stored<F>

/** Returns whether a field is a part of its word. */
export function isPart({ msb, lsb, lengthBytes }: Placed): boolean {
  return msb - lsb + 1 < lengthBytes * 8
}

// Bits of a word.

/** Declares a row of a single bit; 0 is the least significant one. */
/*#__NO_SIDE_EFFECTS__*/
export function bit(at: number, doc: string): Bits<0 | 1, None> {
  return bits(at, at, doc) as Bits<0 | 1, None>
}

/** Declares a row of bits msb:lsb, at most 32; with `values`, only those may be stored. */
export function bits(msb: number, lsb: number, doc: string): Bits<number, None>
export function bits<const V extends NamedValues>(msb: number, lsb: number, doc: string, values: V): Bits<V[keyof V], V>
/*#__NO_SIDE_EFFECTS__*/
export function bits(msb: number, lsb: number, doc: string, values: NamedValues = none): Bits<number> {
  return { msb, lsb, doc, values }
}

/** Declares a row of bits msb:lsb in which some values have names; others may be stored too. */
/*#__NO_SIDE_EFFECTS__*/
export function openBits<const V extends NamedValues>(
  msb: number,
  lsb: number,
  doc: string,
  values: V,
): Bits<number, V> {
  return { ...bits(msb, lsb, doc), values, open: true }
}

/** Declares a row of bits msb:lsb that holds a 0's based count. */
/*#__NO_SIDE_EFFECTS__*/
export function count(msb: number, lsb: number, doc: string): Bits<ZeroBased, None> {
  return { ...bits(msb, lsb, doc), zeroBased: true } as unknown as Bits<ZeroBased, None>
}

/** Declares a row of more than 32 bits: an address, as a bigint. */
/*#__NO_SIDE_EFFECTS__*/
export function wideBits(msb: number, lsb: number, doc: string): Bits<bigint, None> {
  return { msb, lsb, doc, values: none, wide: true }
}

// Fields of a structure.

/** Declares `lengthBytes` bytes at byte `offset`: an integer, unless `more` says otherwise. */
export function field<T, B extends BitsMap = None>(
  offset: number,
  lengthBytes: number,
  doc: string,
  codec: Codec,
  more?: Partial<Pick<Field, 'kind' | 'elementBytes' | 'hex' | 'nullTerminated' | 'zeroBased'>> & { rows?: B },
): Field<T, B, None> {
  const row = {
    kind: 'integer' as const,
    offset,
    lengthBytes,
    elementBytes: lengthBytes,
    msb: lengthBytes * 8 - 1,
    lsb: 0,
    doc,
    rows: none as unknown as B,
    values: none,
    codec,
  }
  // Assigned, not spread: spreading into a literal that has properties takes longer, and an import declares many fields.
  return Object.assign(row, more)
}

/** Declares a byte; with `rows`, a byte with bit rows. */
export function u8(offset: number, doc: string): Field<number, None, None>
export function u8<const B extends BitsMap>(offset: number, doc: string, rows: B): Field<number, B, None>
/*#__NO_SIDE_EFFECTS__*/
export function u8(offset: number, doc: string, rows: BitsMap = none): Field<number> {
  return field(offset, 1, doc, byte, { rows })
}

/** Declares a little-endian 16-bit word; with `rows`, a word with bit rows. */
export function u16(offset: number, doc: string): Field<number, None, None>
export function u16<const B extends BitsMap>(offset: number, doc: string, rows: B): Field<number, B, None>
/*#__NO_SIDE_EFFECTS__*/
export function u16(offset: number, doc: string, rows: BitsMap = none): Field<number> {
  return field(offset, 2, doc, half, { rows })
}

/** Declares a little-endian dword; with `rows`, a dword with bit rows. */
export function u32(offset: number, doc: string): Field<number, None, None>
export function u32<const B extends BitsMap>(offset: number, doc: string, rows: B): Field<number, B, None>
/*#__NO_SIDE_EFFECTS__*/
export function u32(offset: number, doc: string, rows: BitsMap = none): Field<number> {
  return field(offset, 4, doc, dword, { rows })
}

/** Declares a little-endian 48-bit integer, as a number. */
/*#__NO_SIDE_EFFECTS__*/
export function u48(offset: number, doc: string): Field<number, None, None> {
  return field(offset, 6, doc, long48, { hex: false })
}

/**
 * Declares a 64-bit field that is accessed per command, such as an address or an LBA, as a number. 2^53 bytes are 9 PB,
 * and numbers, unlike bigints, need no allocation. Reading a value of 2^53 or more is inexact: check values written by
 * a device with `Number.isSafeInteger`. Decoded to an object, such a value is an exact bigint.
 */
/*#__NO_SIDE_EFFECTS__*/
export function n64(offset: number, doc: string): Field<number, None, None> & Nested<number | bigint, number | bigint> {
  return field(offset, 8, doc, long)
}

/** Declares a little-endian 64-bit number, as a bigint, for fields that are not accessed per command. */
/*#__NO_SIDE_EFFECTS__*/
export function u64(offset: number, doc: string): Field<bigint, None, None> {
  return field(offset, 8, doc, big, { hex: false })
}

/** Declares a little-endian 128-bit counter or capacity, as a bigint. */
/*#__NO_SIDE_EFFECTS__*/
export function u128(offset: number, doc: string): Field<bigint, None, None> {
  return field(offset, 16, doc, big128, { hex: false })
}

/** Returns the same field or row of a word, printed in hexadecimal with leading zeroes. */
/*#__NO_SIDE_EFFECTS__*/
export function inHex<R extends Bits<number> | Bits<bigint>>(row: R): R {
  return { ...row, hex: true }
}

/** Returns the same field, restricted to named values. */
/*#__NO_SIDE_EFFECTS__*/
export function oneOf<const V extends NamedValues>(row: Field<number>, values: V): Field<V[keyof V], None, V> {
  return { ...row, rows: none, values } as unknown as Field<V[keyof V], None, V>
}

/** Returns the same field, with names for some values; others may be stored too. */
/*#__NO_SIDE_EFFECTS__*/
export function someOf<const V extends NamedValues>(row: Field<number>, values: V): Field<number, None, V> {
  return { ...row, rows: none, values, open: true }
}

/** Declares a byte that holds a 0's based count. */
/*#__NO_SIDE_EFFECTS__*/
export function count8(offset: number, doc: string): Field<ZeroBased, None, None> {
  return field(offset, 1, doc, byte, { zeroBased: true })
}

/** Declares a little-endian 16-bit word that holds a 0's based count. */
/*#__NO_SIDE_EFFECTS__*/
export function count16(offset: number, doc: string): Field<ZeroBased, None, None> {
  return field(offset, 2, doc, half, { zeroBased: true })
}

/** Declares a little-endian dword that holds a 0's based count. */
/*#__NO_SIDE_EFFECTS__*/
export function count32(offset: number, doc: string): Field<ZeroBased, None, None> {
  return field(offset, 4, doc, dword, { zeroBased: true })
}

/** Declares a part of a 32-bit word of a structure: bits of the dword at byte `offset`. */
/*#__NO_SIDE_EFFECTS__*/
export function dwordBits<T extends number, V extends NamedValues>(
  offset: number,
  row: Bits<T, V>,
): Field<T, None, V> & V {
  return Object.assign({ ...row.values }, field<T>(offset, 4, row.doc, part), row)
}

/**
 * Declares ASCII text: left justified and padded with spaces, like most of the specification's strings, or terminated
 * by a null (padding 0). Read without padding. Bytes after the null are decoded as reserved.
 */
/*#__NO_SIDE_EFFECTS__*/
export function ascii(
  offset: number,
  lengthBytes: number,
  doc: string,
  padding: 0x20 | 0 = 0x20,
): Field<string, None, None> {
  return field(offset, lengthBytes, doc, text, { kind: 'text', elementBytes: 1, nullTerminated: padding === 0 })
}

/** Declares bytes without further structure; reading returns a view of the same memory, not a copy. */
/*#__NO_SIDE_EFFECTS__*/
export function bytes(offset: number, lengthBytes: number, doc: string): Field<Uint8Array, None, None> {
  return field(offset, lengthBytes, doc, octets, { kind: 'bytes', elementBytes: 1 })
}

/** Declares an array of `count` little-endian 16-bit words; reading returns a copy. */
/*#__NO_SIDE_EFFECTS__*/
export function u16Array(offset: number, count: number, doc: string): Field<Uint16Array, None, None> {
  return field(offset, count * 2, doc, words, { kind: 'integers', elementBytes: 2 })
}

/** Declares an array of `count` little-endian dwords, each with `rows` if given; reading returns a copy. */
/*#__NO_SIDE_EFFECTS__*/
export function u32Array<const B extends BitsMap = None>(
  offset: number,
  count: number,
  doc: string,
  rows: B = none as unknown as B,
): Field<Uint32Array, B, None> {
  return field(offset, count * 4, doc, words, { kind: 'integers', elementBytes: 4, rows })
}

/** Declares an array of `count` little-endian 64-bit words; reading returns a copy. */
/*#__NO_SIDE_EFFECTS__*/
export function u64Array(offset: number, count: number, doc: string): Field<BigUint64Array, None, None> {
  return field(offset, count * 8, doc, words, { kind: 'integers', elementBytes: 8 })
}

/** Never present; carries the decoded and encodable types of a structured field. */
export interface Nested<D, E> {
  readonly decoded?: D
  readonly encodable?: E
}

/**
 * Returns the rows, or the named values, of several maps as one. Declarations use it instead of `{ ...rows }`: a
 * bundler cannot know that a spread runs no code, and keeps it even if nothing uses the declaration.
 */
/*#__NO_SIDE_EFFECTS__*/
export function merge<const T extends readonly object[]>(...parts: T): Merged<T> {
  return Object.assign({}, ...parts) as Merged<T>
}

/** Type of the result of `merge`. */
export type Merged<T extends readonly object[]> = T extends readonly [
  infer First,
  ...infer Rest extends readonly object[],
]
  ? First & Merged<Rest>
  : unknown
