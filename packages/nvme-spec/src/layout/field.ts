import { checkBits, count, upTo, type Bits, type BitsMap, type NamedValues, type None } from './bits.js'
import { refuse, type Where } from './spec-ref.js'
import type { Nested } from './struct.js'
import type { ZeroBased } from './zero-based.js'

/** What a field's bytes are, for whoever writes the same declaration in another language. */
export type FieldKind = 'integer' | 'integers' | 'text' | 'bytes' | 'structs'

/**
 * One field of a structure: where it is, and how its bytes become a value. `get` and `set` are handed the DataView
 * and the byte offset of the structure, and add the field's own offset themselves: an accessor that only passes two
 * values on is small enough that a compiler inlines it whatever its budget says.
 */
export interface Field<T = unknown, B extends BitsMap = BitsMap, V extends NamedValues = NamedValues> {
  readonly kind: FieldKind
  /** In bytes, from the start of the structure. */
  readonly offset: number
  readonly lengthBytes: number
  /** Bytes of each of a row of equal elements; of everything else its length. */
  readonly elementBytes: number
  /** The bits of `lengthBytes` that the field occupies, where it is only a part of a word. */
  readonly bits?: { readonly msb: number; readonly lsb: number }
  readonly doc: string
  /** The rows inside the field's word, where the spec gives it rows of its own. */
  readonly rows: B
  readonly values: V
  /** Whether values other than the named ones may be stored. */
  readonly open?: boolean
  readonly zeroBased?: boolean
  /** The value in the structure that starts at byte `base` of `data`. */
  readonly get: (data: DataView, base: number) => T
  /** @throws TypeError or RangeError, beginning with the name, for a value that does not fit; nothing is cut to size. */
  readonly set: (data: DataView, base: number, value: T, where: Where) => void
  /** As `set`, where both the structure and the field are aligned to a dword and the host is little-endian. */
  readonly setWords?: (cursor: { words: Uint32Array; base: number }, value: T, where: Where) => void
  /** Text that ends at its first null. */
  readonly nullEnded?: boolean
  /** Printed in hexadecimal with leading zeroes, or never; not said, 64 bits are an address and printed without. */
  readonly hex?: boolean
}

const none: None = {}

/** How the bytes of a field become a value and back, and what else its declaration says that is not usual. */
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

/** Declares one byte; with `rows`, a byte that has rows of its own. */
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

/** Declares two bytes, little endian; with `rows`, two bytes that have rows of their own. */
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

/** Declares four bytes, little endian; with `rows`, a dword that has rows of its own. */
export function u32(offset: number, doc: string): Field<number, None, None>
export function u32<const B extends BitsMap>(offset: number, doc: string, rows: B): Field<number, B, None>
/*#__NO_SIDE_EFFECTS__*/
export function u32(offset: number, doc: string, rows: BitsMap = none): Field<number> {
  // Once here: a setter with one more call in it is not inlined any more.
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

/** Declares six bytes, little endian, as a number. */
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

/** The same field, printed in hexadecimal with leading zeroes. */
/*#__NO_SIDE_EFFECTS__*/
export function inHex<F extends Field<number> | Field<bigint>>(row: F): F {
  return { ...row, hex: true }
}

/**
 * The same field of one or two bytes, for which the spec names values: only those may be stored.
 * @throws RangeError for a longer field, which `dwordBits` declares.
 */
/*#__NO_SIDE_EFFECTS__*/
export function oneOf<const V extends NamedValues>(row: Field<number>, values: V): Field<V[keyof V], None, V> {
  const { lengthBytes, doc, set } = row
  if (lengthBytes > 2) throw new RangeError(`${doc}: a dword with named values is declared with dwordBits()`)
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

/** The same field, for which the spec names some values: others may be stored as well. */
/*#__NO_SIDE_EFFECTS__*/
export function someOf<const V extends NamedValues>(row: Field<number>, values: V): Field<number, None, V> {
  return { ...row, rows: none, values, open: true }
}

/** Declares a byte that holds a 0's based count. */
/*#__NO_SIDE_EFFECTS__*/
export function count8(offset: number, doc: string): Field<ZeroBased, None, None> {
  return counted(unsigned8(offset, doc, none, true))
}

/** Declares two bytes, little endian, that hold a 0's based count. */
/*#__NO_SIDE_EFFECTS__*/
export function count16(offset: number, doc: string): Field<ZeroBased, None, None> {
  return counted(unsigned16(offset, doc, none, true))
}

/** Declares four bytes, little endian, that hold a 0's based count. */
/*#__NO_SIDE_EFFECTS__*/
export function count32(offset: number, doc: string): Field<ZeroBased, None, None> {
  return dwordBits(offset, count(31, 0, doc))
}

function counted(row: Field<number>): Field<ZeroBased, None, None> {
  return { ...row, zeroBased: true } as unknown as Field<ZeroBased, None, None>
}

/** Declares a 64-bit number of the cold path, little endian, as a bigint. */
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
 * Refuses what is no unsigned bigint of a width.
 * @throws TypeError for what is no bigint, RangeError for one that does not fit.
 */
export function checkUnsigned(where: Where, doc: string, widthBits: number, value: unknown): asserts value is bigint {
  if (typeof value !== 'bigint' || BigInt.asUintN(widthBits, value) !== value)
    refuse(where, doc, `a bigint from 0 to 2^${widthBits} - 1`, value, 'bigint')
}

/**
 * Declares a 64-bit field of the hot path - an address or an LBA - as a number. 2^53 bytes are 9 PB, so nothing that
 * exists is out of reach, and a number makes no garbage.
 * Reading a value of 2^53 or more gives an inexact number; compare with `Number.isSafeInteger` where a device wrote it.
 * Decoded into an object, such a value is a bigint, and exact.
 */
/*#__NO_SIDE_EFFECTS__*/
export function n64(offset: number, doc: string): Field<number, None, None> & Nested<number | bigint, number | bigint> {
  const expected = 'an integer from 0 to 2^53 - 1'
  return field(offset, 8, doc, none, {
    get: (data, base) => data.getUint32(base + offset, true) + data.getUint32(base + offset + 4, true) * 0x1_0000_0000,
    // Storing into 32 bits takes a number modulo 2^32, so the low half needs no arithmetic.
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

/** Declares a 128-bit counter or capacity, little endian, as a bigint. */
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
 * Declares ASCII, left justified and padded with spaces, as most of the spec's strings are, or ended by a null (padding 0).
 * Read without its padding. What a device left behind the null, decoding shows as reserved.
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

/** Declares bytes with no structure of their own; reading gives a view of the same memory, not a copy. */
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

/** Declares `count` 16-bit words in a row, little endian; reading gives a copy. */
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

/** Declares `count` 32-bit words in a row, little endian, with `rows` each of these rows; reading gives a copy. */
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

/** Declares `count` 64-bit words in a row, little endian; reading gives a copy. */
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
 * @throws RangeError when the bits leave the dword.
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
  // Looked up here, since an entry of a queue may be written a million times a second: the check itself builds its error.
  // And in a function of its own, or the setters of fields without names grow too large to be inlined.
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

/** What reading a field of a structure gives. */
export type FieldValue<F> = F extends Field<infer T> ? T : never
