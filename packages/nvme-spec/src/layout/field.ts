import type { Bits, BitsMap, NamedValues, None } from './bits.js'
import { placeBits } from './bits.js'
import type { ZeroBased } from './zero-based.js'

/**
 * One field of a structure: where it is, and how its bytes become a value. `get` and `set` are handed the DataView
 * and the byte offset of the structure, and add the field's own offset themselves: an accessor that only passes two
 * values on is small enough that a compiler inlines it whatever its budget says.
 */
export interface Field<T = unknown, B extends BitsMap = BitsMap, V extends NamedValues = NamedValues> {
  readonly offset: number
  readonly lengthBytes: number
  /** The bits of `lengthBytes` that the field occupies, where it is only a part of a word. */
  readonly bits?: { readonly msb: number; readonly lsb: number }
  readonly doc: string
  /** The rows inside the field's word, where the spec gives it rows of its own. */
  readonly rows: B
  readonly values: V
  readonly get: (data: DataView, base: number) => T
  /** @throws RangeError, beginning with `name`, for a value that does not fit; nothing is ever cut to size. */
  readonly set: (data: DataView, base: number, value: T, name: string) => void
  /** As `set`, where both the structure and the field are aligned to a dword and the host is little-endian. */
  readonly setWords?: (cursor: { words: Uint32Array; base: number }, value: T, name: string) => void
  readonly format: (value: T) => string
}

const none: None = {}

const hex = (value: number | bigint) => `0x${value.toString(16)}`

function refuse(name: string, doc: string, expected: string, got: unknown): never {
  throw new RangeError(`${name} (${doc}): expected ${expected}, got ${String(got)}`)
}

function field<T, B extends BitsMap = None>(
  offset: number,
  lengthBytes: number,
  doc: string,
  rows: B,
  codec: Pick<Field<T>, 'get' | 'set' | 'setWords'> & { format?: (value: T) => string },
): Field<T, B, None> {
  return { offset, lengthBytes, doc, rows, values: none, format: String, ...codec }
}

export function u8(offset: number, doc: string): Field<number, None, None>
export function u8<const B extends BitsMap>(offset: number, doc: string, rows: B): Field<number, B, None>
export function u8(offset: number, doc: string, rows: BitsMap = none): Field<number> {
  return field(offset, 1, doc, rows, {
    get: (data, base) => data.getUint8(base + offset),
    set(data, base, value: number, name) {
      if ((value & 0xff) !== value) refuse(name, doc, 'an integer from 0 to 255', value)
      data.setUint8(base + offset, value)
    },
  })
}

export function u16(offset: number, doc: string): Field<number, None, None>
export function u16<const B extends BitsMap>(offset: number, doc: string, rows: B): Field<number, B, None>
export function u16(offset: number, doc: string, rows: BitsMap = none): Field<number> {
  return field(offset, 2, doc, rows, {
    get: (data, base) => data.getUint16(base + offset, true),
    set(data, base, value: number, name) {
      if ((value & 0xffff) !== value) refuse(name, doc, 'an integer from 0 to 65535', value)
      data.setUint16(base + offset, value, true)
    },
  })
}

export function u32(offset: number, doc: string): Field<number, None, None>
export function u32<const B extends BitsMap>(offset: number, doc: string, rows: B): Field<number, B, None>
export function u32(offset: number, doc: string, rows: BitsMap = none): Field<number> {
  return field(offset, 4, doc, rows, {
    get: (data, base) => data.getUint32(base + offset, true),
    set(data, base, value: number, name) {
      if (value >>> 0 !== value) refuse(name, doc, 'an integer from 0 to 2^32 - 1', value)
      data.setUint32(base + offset, value, true)
    },
    ...(offset % 4 === 0 && {
      setWords(cursor, value: number, name) {
        if (value >>> 0 !== value) refuse(name, doc, 'an integer from 0 to 2^32 - 1', value)
        cursor.words[(cursor.base + offset) >>> 2] = value
      },
    }),
  })
}

/** The same field, printed in hexadecimal with leading zeroes. */
export function inHex<F extends Field<number>>(row: F): F {
  return { ...row, format: (value: number) => `0x${value.toString(16).padStart(row.lengthBytes * 2, '0')}` }
}

/** A byte that holds a 0's based count. */
export function count8(offset: number, doc: string): Field<ZeroBased, None, None> {
  return u8(offset, doc) as unknown as Field<ZeroBased, None, None>
}

/** Two bytes that hold a 0's based count. */
export function count16(offset: number, doc: string): Field<ZeroBased, None, None> {
  return u16(offset, doc) as unknown as Field<ZeroBased, None, None>
}

/** A 64-bit field of the cold path, as a bigint. */
export function u64(offset: number, doc: string): Field<bigint, None, None> {
  return field(offset, 8, doc, none, {
    get: (data, base) => data.getBigUint64(base + offset, true),
    set(data, base, value: bigint, name) {
      if (BigInt.asUintN(64, value) !== value) refuse(name, doc, 'a bigint from 0 to 2^64 - 1', value)
      data.setBigUint64(base + offset, value, true)
    },
    format: hex,
  })
}

/**
 * A 64-bit field of the hot path - an address or an LBA - as a number. 2^53 bytes are 9 PB, so nothing that
 * exists is out of reach, and a number makes no garbage.
 * Reading a value of 2^53 or more gives an inexact number; compare with `Number.isSafeInteger` where a device wrote it.
 */
export function n64(offset: number, doc: string): Field<number, None, None> {
  const expected = 'an integer from 0 to 2^53 - 1'
  return field(offset, 8, doc, none, {
    get: (data, base) => data.getUint32(base + offset, true) + data.getUint32(base + offset + 4, true) * 0x1_0000_0000,
    // Storing into 32 bits takes a number modulo 2^32, so the low half needs no arithmetic.
    set(data, base, value: number, name) {
      if (!(value >= 0 && value <= 0x1f_ffff_ffff_ffff && Math.floor(value) === value))
        refuse(name, doc, expected, value)
      const at = base + offset
      data.setUint32(at, value, true)
      data.setUint32(at + 4, value / 0x1_0000_0000, true)
    },
    ...(offset % 4 === 0 && {
      setWords(cursor, value: number, name) {
        if (!(value >= 0 && value <= 0x1f_ffff_ffff_ffff && Math.floor(value) === value))
          refuse(name, doc, expected, value)
        const { words } = cursor
        const at = (cursor.base + offset) >>> 2
        words[at] = value
        words[at + 1] = value / 0x1_0000_0000
      },
    }),
    format: hex,
  })
}

/** A 128-bit counter or capacity, as a bigint. */
export function u128(offset: number, doc: string): Field<bigint, None, None> {
  return field(offset, 16, doc, none, {
    get: (data, base) => data.getBigUint64(base + offset, true) | (data.getBigUint64(base + offset + 8, true) << 64n),
    set(data, base, value: bigint, name) {
      if (BigInt.asUintN(128, value) !== value) refuse(name, doc, 'a bigint from 0 to 2^128 - 1', value)
      data.setBigUint64(base + offset, BigInt.asUintN(64, value), true)
      data.setBigUint64(base + offset + 8, value >> 64n, true)
    },
  })
}

/**
 * ASCII, left justified and padded with spaces, as most of the spec's strings are, or ended by a null (padding 0).
 * Read without its padding.
 */
export function ascii(
  offset: number,
  lengthBytes: number,
  doc: string,
  padding: 0x20 | 0 = 0x20,
): Field<string, None, None> {
  const longest = padding === 0 ? lengthBytes - 1 : lengthBytes
  return field(offset, lengthBytes, doc, none, {
    get(data, base) {
      let text = ''
      for (let i = 0; i < lengthBytes; i++) text += String.fromCharCode(data.getUint8(base + offset + i))
      return padding === 0 ? text.slice(0, (text + '\0').indexOf('\0')) : text.replace(/[ \0]+$/, '')
    },
    set(data, base, value: string, name) {
      if (value.length > longest || /[^\x20-\x7e]/.test(value)) {
        refuse(name, doc, `at most ${longest} printable ASCII characters`, JSON.stringify(value))
      }
      for (let i = 0; i < lengthBytes; i++) {
        data.setUint8(base + offset + i, i < value.length ? value.charCodeAt(i) : padding)
      }
    },
    format: (value) => JSON.stringify(value),
  })
}

/** Bytes with no structure of their own; reading gives a view of the same memory, not a copy. */
export function bytes(offset: number, lengthBytes: number, doc: string): Field<Uint8Array, None, None> {
  return field(offset, lengthBytes, doc, none, {
    get: (data, base) => new Uint8Array(data.buffer, data.byteOffset + base + offset, lengthBytes),
    set(data, base, value: Uint8Array, name) {
      if (value.length !== lengthBytes) refuse(name, doc, `${lengthBytes} bytes`, `${value.length} bytes`)
      new Uint8Array(data.buffer, data.byteOffset + base + offset, lengthBytes).set(value)
    },
    format: (value) => Array.from(value, (byte) => byte.toString(16).padStart(2, '0')).join(''),
  })
}

/** `count` 32-bit words in a row; reading gives a copy. */
export function u32Array<const B extends BitsMap = None>(
  offset: number,
  count: number,
  doc: string,
  rows?: B,
): Field<Uint32Array, B, None> {
  return field(offset, count * 4, doc, rows ?? (none as unknown as B), {
    get: (data, base) => Uint32Array.from({ length: count }, (_, i) => data.getUint32(base + offset + i * 4, true)),
    set(data, base, value: Uint32Array, name) {
      if (value.length !== count) refuse(name, doc, `${count} words`, `${value.length} words`)
      value.forEach((word, i) => data.setUint32(base + offset + i * 4, word, true))
    },
    format: (value) => Array.from(value, hex).join(','),
  })
}

/**
 * A part of a 32-bit word of a structure: bits of the dword at `offset`.
 * @throws RangeError when the bits leave the dword.
 */
export function dwordBits<T extends number, V extends NamedValues>(offset: number, row: Bits<T, V>): Field<T, None, V> {
  const { msb, lsb, doc, values } = row
  if (lsb < 0 || msb > 31) throw new RangeError(`bits ${msb}:${lsb} (${doc}): outside a dword`)
  const mask = 0xffff_ffff >>> (31 - (msb - lsb))
  const clear = ~(mask << lsb)
  const isNamed = Object.keys(values).length > 0
  return {
    offset,
    lengthBytes: 4,
    bits: { msb, lsb },
    doc,
    rows: none,
    values,
    get: (data, base) => (((data.getUint32(base + offset, true) >>> lsb) & mask) >>> 0) as T,
    set(data, base, value: T, name) {
      if (isNamed || (value & mask) >>> 0 !== value) placeBits(name, row, value)
      data.setUint32(base + offset, (data.getUint32(base + offset, true) & clear) | (value << lsb), true)
    },
    format: (value) => Object.keys(values).find((key) => values[key] === value) ?? String(value),
  }
}

export type FieldValue<F> = F extends Field<infer T> ? T : never
