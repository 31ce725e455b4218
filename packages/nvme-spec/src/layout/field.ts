import { checkBits, count, upTo, type Bits, type BitsMap, type NamedValues, type None } from './bits.js'
import { refuse, type Where } from './spec-ref.js'
import type { Nested } from './struct.js'
import type { ZeroBased } from './zero-based.js'

/** What a field's bytes contain, for generators of declarations in other languages. */
export type FieldKind = 'integer' | 'integers' | 'text' | 'bytes' | 'structs'

/**
 * One field of a structure: its location, and the conversion of its bytes to a value. `get` and `set` take the DataView
 * and the byte offset of the structure, and add the field's offset: accessors that only forward two values are small
 * enough to be inlined always.
 */
export interface Field<T = unknown, B extends BitsMap = BitsMap, V extends NamedValues = NamedValues> {
  readonly kind: FieldKind
  /** Offset in bytes from the start of the structure. */
  readonly offset: number
  readonly lengthBytes: number
  /** Bytes per element of an array; otherwise the length of the field. */
  readonly elementBytes: number
  /** The bits of `lengthBytes` that the field occupies, if it is only a part of a word. */
  readonly bits?: { readonly msb: number; readonly lsb: number }
  readonly doc: string
  /** The rows inside the field's word, if the specification defines any. */
  readonly rows: B
  readonly values: V
  /** Whether values without a name may be stored. */
  readonly open?: boolean
  readonly zeroBased?: boolean
  /** Returns the value in the structure at byte `base` of `data`. */
  readonly get: (data: DataView, base: number) => T
  /** @throws TypeError or RangeError, beginning with the name, for a value that does not fit; nothing is truncated. */
  readonly set: (data: DataView, base: number, value: T, where: Where) => void
  /** Like `set`, if structure and field are aligned to a dword and the host is little endian. */
  readonly setWords?: (cursor: { words: Uint32Array; base: number }, value: T, where: Where) => void
  /** Text that ends at its first null. */
  readonly nullEnded?: boolean
  /**
   * Whether it is printed in hexadecimal with leading zeroes. If undefined, 64-bit fields are addresses, printed in
   * hexadecimal without leading zeroes.
   */
  readonly hex?: boolean
}

const none: None = {}

/** Conversion of a field's bytes to a value and back, and further properties of its declaration. */
export type FieldCodec<T> = Pick<Field<T>, 'get' | 'set' | 'setWords'> &
  Partial<Pick<Field<T>, 'kind' | 'elementBytes' | 'hex' | 'nullEnded'>>

/** Declares a field of `lengthBytes` bytes at byte `offset`: an integer, unless the codec says otherwise. */
export function field<T, B extends BitsMap = None>(
  offset: number,
  lengthBytes: number,
  doc: string,
  rows: B,
  codec: FieldCodec<T>,
): Field<T, B, None> {
  return { kind: 'integer', elementBytes: lengthBytes, values: none, offset, lengthBytes, doc, rows, ...codec }
}

/** Declares a byte; with `rows`, a byte with bit rows. */
export function u8(offset: number, doc: string): Field<number, None, None>
export function u8<const B extends BitsMap>(offset: number, doc: string, rows: B): Field<number, B, None>
/*#__NO_SIDE_EFFECTS__*/
export function u8(offset: number, doc: string, rows: BitsMap = none): Field<number> {
  return unsigned8(offset, doc, rows)
}

function unsigned8(offset: number, doc: string, rows: BitsMap, zeroBased?: true): Field<number> {
  return field(offset, 1, doc, rows, {
    get: (data, base) => data.getUint8(base + offset),
    set(data, base, value: number, where) {
      if (typeof value !== 'number' || (value & 0xff) !== value) refuse(where, doc, upTo(0xff, zeroBased), value)
      data.setUint8(base + offset, value)
    },
  })
}

/** Declares a little-endian 16-bit word; with `rows`, a word with bit rows. */
export function u16(offset: number, doc: string): Field<number, None, None>
export function u16<const B extends BitsMap>(offset: number, doc: string, rows: B): Field<number, B, None>
/*#__NO_SIDE_EFFECTS__*/
export function u16(offset: number, doc: string, rows: BitsMap = none): Field<number> {
  return unsigned16(offset, doc, rows)
}

function unsigned16(offset: number, doc: string, rows: BitsMap, zeroBased?: true): Field<number> {
  return field(offset, 2, doc, rows, {
    get: (data, base) => data.getUint16(base + offset, true),
    set(data, base, value: number, where) {
      if (typeof value !== 'number' || (value & 0xffff) !== value) refuse(where, doc, upTo(0xffff, zeroBased), value)
      data.setUint16(base + offset, value, true)
    },
  })
}

/** Declares a little-endian dword; with `rows`, a dword with bit rows. */
export function u32(offset: number, doc: string): Field<number, None, None>
export function u32<const B extends BitsMap>(offset: number, doc: string, rows: B): Field<number, B, None>
/*#__NO_SIDE_EFFECTS__*/
export function u32(offset: number, doc: string, rows: BitsMap = none): Field<number> {
  // Computed once: a setter with one more call is not inlined.
  const expected = upTo(0xffff_ffff)
  return field(offset, 4, doc, rows, {
    get: (data, base) => data.getUint32(base + offset, true),
    set(data, base, value: number, where) {
      if (typeof value !== 'number' || value >>> 0 !== value) refuse(where, doc, expected, value)
      data.setUint32(base + offset, value, true)
    },
    setWords(cursor, value: number, where) {
      if (typeof value !== 'number' || value >>> 0 !== value) refuse(where, doc, expected, value)
      cursor.words[(cursor.base + offset) >>> 2] = value
    },
  })
}

/** Declares a little-endian 48-bit integer, as a number. */
/*#__NO_SIDE_EFFECTS__*/
export function u48(offset: number, doc: string): Field<number, None, None> {
  return field(offset, 6, doc, none, {
    get: (data, base) => data.getUint32(base + offset, true) + data.getUint16(base + offset + 4, true) * 0x1_0000_0000,
    set(data, base, value: number, where) {
      if (!(Number.isInteger(value) && value >= 0 && value < 2 ** 48)) refuse(where, doc, upTo(0xffff_ffff_ffff), value)
      data.setUint32(base + offset, value, true)
      data.setUint16(base + offset + 4, value / 0x1_0000_0000, true)
    },
  })
}

/** Returns the same field, printed in hexadecimal with leading zeroes. */
/*#__NO_SIDE_EFFECTS__*/
export function inHex<F extends Field<number> | Field<bigint>>(row: F): F {
  return { ...row, hex: true }
}

/**
 * Returns the same field of one or two bytes, restricted to named values.
 * @throws RangeError for a longer field; declare it with `dwordBits`.
 */
/*#__NO_SIDE_EFFECTS__*/
export function oneOf<const V extends NamedValues>(row: Field<number>, values: V): Field<V[keyof V], None, V> {
  const { lengthBytes, doc, set } = row
  if (lengthBytes > 2) throw new RangeError(`${doc}: declare a dword with named values with dwordBits()`)
  const bits: Bits = { msb: lengthBytes * 8 - 1, lsb: 0, doc, values }
  return {
    ...someOf(row, values),
    open: false,
    set(data: DataView, base: number, value: number, where: Where) {
      checkBits(where, bits, value)
      set(data, base, value, where)
    },
  } as unknown as Field<V[keyof V], None, V>
}

/** Returns the same field, with names for some values; others may be stored too. */
/*#__NO_SIDE_EFFECTS__*/
export function someOf<const V extends NamedValues>(row: Field<number>, values: V): Field<number, None, V> {
  return { ...row, rows: none, values, open: true }
}

/** Declares a byte that holds a 0's based count. */
/*#__NO_SIDE_EFFECTS__*/
export function count8(offset: number, doc: string): Field<ZeroBased, None, None> {
  return counted(unsigned8(offset, doc, none, true))
}

/** Declares a little-endian 16-bit word that holds a 0's based count. */
/*#__NO_SIDE_EFFECTS__*/
export function count16(offset: number, doc: string): Field<ZeroBased, None, None> {
  return counted(unsigned16(offset, doc, none, true))
}

/** Declares a little-endian dword that holds a 0's based count. */
/*#__NO_SIDE_EFFECTS__*/
export function count32(offset: number, doc: string): Field<ZeroBased, None, None> {
  return dwordBits(offset, count(31, 0, doc))
}

function counted(row: Field<number>): Field<ZeroBased, None, None> {
  return { ...row, zeroBased: true } as unknown as Field<ZeroBased, None, None>
}

/** Declares a little-endian 64-bit number, as a bigint, for fields that are not accessed per command. */
/*#__NO_SIDE_EFFECTS__*/
export function u64(offset: number, doc: string): Field<bigint, None, None> {
  return field(offset, 8, doc, none, {
    hex: false,
    get: (data, base) => data.getBigUint64(base + offset, true),
    set(data, base, value: bigint, where) {
      checkUnsigned(where, doc, 64, value)
      data.setBigUint64(base + offset, value, true)
    },
  })
}

/**
 * Throws if a value is not an unsigned bigint of this width.
 * @throws TypeError if it is not a bigint, RangeError if it does not fit.
 */
export function checkUnsigned(where: Where, doc: string, widthBits: number, value: unknown): asserts value is bigint {
  if (typeof value !== 'bigint' || BigInt.asUintN(widthBits, value) !== value)
    refuse(where, doc, `a bigint from 0 to 2^${widthBits} - 1`, value, 'bigint')
}

/**
 * Declares a 64-bit field that is accessed per command, such as an address or an LBA, as a number. 2^53 bytes are 9 PB,
 * and numbers, unlike bigints, need no allocation. Reading a value of 2^53 or more is inexact: check values written by
 * a device with `Number.isSafeInteger`. Decoded to an object, such a value is an exact bigint.
 */
/*#__NO_SIDE_EFFECTS__*/
export function n64(offset: number, doc: string): Field<number, None, None> & Nested<number | bigint, number | bigint> {
  const expected = 'an integer from 0 to 2^53 - 1'
  return field(offset, 8, doc, none, {
    get: (data, base) => data.getUint32(base + offset, true) + data.getUint32(base + offset + 4, true) * 0x1_0000_0000,
    // A store into 32 bits takes a number modulo 2^32, so the low half needs no arithmetic.
    set(data, base, value: number, where) {
      if (!(Number.isSafeInteger(value) && value >= 0)) refuse(where, doc, expected, value)
      const at = base + offset
      data.setUint32(at, value, true)
      data.setUint32(at + 4, value / 0x1_0000_0000, true)
    },
    setWords(cursor, value: number, where) {
      if (!(Number.isSafeInteger(value) && value >= 0)) refuse(where, doc, expected, value)
      const { words } = cursor
      const at = (cursor.base + offset) >>> 2
      words[at] = value
      words[at + 1] = value / 0x1_0000_0000
    },
  })
}

/** Declares a little-endian 128-bit counter or capacity, as a bigint. */
/*#__NO_SIDE_EFFECTS__*/
export function u128(offset: number, doc: string): Field<bigint, None, None> {
  return field(offset, 16, doc, none, {
    get: (data, base) => data.getBigUint64(base + offset, true) | (data.getBigUint64(base + offset + 8, true) << 64n),
    set(data, base, value: bigint, where) {
      checkUnsigned(where, doc, 128, value)
      data.setBigUint64(base + offset, BigInt.asUintN(64, value), true)
      data.setBigUint64(base + offset + 8, value >> 64n, true)
    },
  })
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
  const longest = padding === 0 ? lengthBytes - 1 : lengthBytes
  return field(offset, lengthBytes, doc, none, {
    kind: 'text',
    elementBytes: 1,
    ...(padding === 0 && { nullEnded: true }),
    get(data, base) {
      let text = ''
      for (let i = 0; i < lengthBytes; i++) text += String.fromCharCode(data.getUint8(base + offset + i))
      return padding === 0 ? text.slice(0, (text + '\0').indexOf('\0')) : text.replace(/[ \0]+$/, '')
    },
    set(data, base, value: string, where) {
      if (typeof value !== 'string' || value.length > longest || /[^\x20-\x7e]/.test(value)) {
        refuse(where, doc, `at most ${longest} printable ASCII characters`, value, 'string')
      }
      for (let i = 0; i < lengthBytes; i++) {
        data.setUint8(base + offset + i, i < value.length ? value.charCodeAt(i) : padding)
      }
    },
  })
}

/** Declares bytes without further structure; reading returns a view of the same memory, not a copy. */
/*#__NO_SIDE_EFFECTS__*/
export function bytes(offset: number, lengthBytes: number, doc: string): Field<Uint8Array, None, None> {
  const view = (data: DataView, base: number) =>
    new Uint8Array(data.buffer, data.byteOffset + base + offset, lengthBytes)
  return field(offset, lengthBytes, doc, none, {
    kind: 'bytes',
    elementBytes: 1,
    get: view,
    set(data, base, value: Uint8Array, where) {
      if (!(value instanceof Uint8Array) || value.length !== lengthBytes)
        refuseArray(where, doc, `${lengthBytes} bytes (Uint8Array)`, value, 'bytes')
      view(data, base).set(value)
    },
  })
}

/** Declares an array of `count` little-endian 16-bit words; reading returns a copy. */
/*#__NO_SIDE_EFFECTS__*/
export function u16Array(offset: number, count: number, doc: string): Field<Uint16Array, None, None> {
  return field(offset, count * 2, doc, none, {
    kind: 'integers',
    elementBytes: 2,
    get: (data, base) => Uint16Array.from({ length: count }, (_, i) => data.getUint16(base + offset + i * 2, true)),
    set(data, base, value: Uint16Array, where) {
      if (!(value instanceof Uint16Array) || value.length !== count)
        refuseArray(where, doc, `${count} words (Uint16Array)`, value, 'words')
      value.forEach((word, i) => data.setUint16(base + offset + i * 2, word, true))
    },
  })
}

/** Declares an array of `count` little-endian dwords, each with `rows` if given; reading returns a copy. */
/*#__NO_SIDE_EFFECTS__*/
export function u32Array<const B extends BitsMap = None>(
  offset: number,
  count: number,
  doc: string,
  rows?: B,
): Field<Uint32Array, B, None> {
  return field(offset, count * 4, doc, rows ?? (none as unknown as B), {
    kind: 'integers',
    elementBytes: 4,
    get: (data, base) => Uint32Array.from({ length: count }, (_, i) => data.getUint32(base + offset + i * 4, true)),
    set(data, base, value: Uint32Array, where) {
      if (!(value instanceof Uint32Array) || value.length !== count)
        refuseArray(where, doc, `${count} words (Uint32Array)`, value, 'words')
      value.forEach((word, i) => data.setUint32(base + offset + i * 4, word, true))
    },
  })
}

/** Declares an array of `count` little-endian 64-bit words; reading returns a copy. */
/*#__NO_SIDE_EFFECTS__*/
export function u64Array(offset: number, count: number, doc: string): Field<BigUint64Array, None, None> {
  return field(offset, count * 8, doc, none, {
    kind: 'integers',
    elementBytes: 8,
    get: (data, base) =>
      BigUint64Array.from({ length: count }, (_, i) => data.getBigUint64(base + offset + i * 8, true)),
    set(data, base, value: BigUint64Array, where) {
      if (!(value instanceof BigUint64Array) || value.length !== count)
        refuseArray(where, doc, `${count} words (BigUint64Array)`, value, 'words')
      value.forEach((word, i) => data.setBigUint64(base + offset + i * 8, word, true))
    },
  })
}

function refuseArray(where: Where, doc: string, expected: string, got: unknown, unit: string): never {
  if (ArrayBuffer.isView(got) && 'length' in got)
    throw new RangeError(
      `${where.name} (${doc}): expected ${expected}, got ${String(got.length)} ${unit} (${where.spec})`,
    )
  return refuse(where, doc, expected, got, 'typed array')
}

/**
 * Declares a part of a 32-bit word of a structure: bits of the dword at byte `offset`.
 * @throws RangeError for bits outside the dword.
 */
/*#__NO_SIDE_EFFECTS__*/
export function dwordBits<T extends number, V extends NamedValues>(
  offset: number,
  row: Bits<T, V>,
): Field<T, None, V> & V {
  const { msb, lsb, doc, values, open } = row
  if (lsb < 0 || msb > 31) throw new RangeError(`bits ${msb}:${lsb} (${doc}): outside a dword`)
  const mask = 0xffff_ffff >>> (31 - (msb - lsb))
  const clear = ~(mask << lsb)
  const named: readonly unknown[] = open ? [] : Object.values(values)
  const closed = named.length > 0
  // Looked up here, since queue entries may be written a million times a second and the check builds its error eagerly.
  // A separate function, or the setters of fields without names grow too large to be inlined.
  const checkUnlessNamed = (where: Where, value: unknown) => {
    if (!named.includes(value)) checkBits(where, row, value)
  }
  return {
    ...values,
    ...row,
    ...field<T>(offset, 4, doc, none, {
      get: (data, base) => (((data.getUint32(base + offset, true) >>> lsb) & mask) >>> 0) as T,
      set(data, base, value: T, where) {
        if (closed || typeof value !== 'number' || (value & mask) >>> 0 !== value) checkUnlessNamed(where, value)
        data.setUint32(base + offset, (data.getUint32(base + offset, true) & clear) | (value << lsb), true)
      },
      setWords(cursor, value: T, where) {
        if (closed || typeof value !== 'number' || (value & mask) >>> 0 !== value) checkUnlessNamed(where, value)
        const { words } = cursor
        const at = (cursor.base + offset) >>> 2
        words[at] = (words[at]! & clear) | (value << lsb)
      },
    }),
    bits: row,
    values,
  }
}

/** Type of the values read from a field of a structure. */
export type FieldValue<F> = F extends Field<infer T> ? T : never
