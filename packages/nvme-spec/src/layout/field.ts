import type { Bits, BitsMap, NamedValues, None } from './bits.js'
import { placeBits } from './bits.js'
import type { ZeroBased } from './zero-based.js'

/**
 * One field of a structure: where it is, and how its bytes become a value. `get` and `set` are handed the
 * DataView and the field's own absolute byte offset, so that a cursor adds nothing but an addition.
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
  readonly get: (data: DataView, at: number) => T
  readonly set: (data: DataView, at: number, value: T) => void
  readonly format: (value: T) => string
}

const none: None = {}

const hex = (value: number | bigint) => `0x${value.toString(16)}`

function refuse(doc: string, expected: string, got: unknown): never {
  throw new RangeError(`${doc}: expected ${expected}, got ${String(got)}`)
}

function field<T, B extends BitsMap = None>(
  offset: number,
  lengthBytes: number,
  doc: string,
  rows: B,
  codec: Pick<Field<T>, 'get' | 'set'> & { format?: (value: T) => string },
): Field<T, B, None> {
  return { offset, lengthBytes, doc, rows, values: none, format: String, ...codec }
}

export function u8(offset: number, doc: string): Field<number, None, None>
export function u8<const B extends BitsMap>(offset: number, doc: string, rows: B): Field<number, B, None>
export function u8(offset: number, doc: string, rows: BitsMap = none): Field<number> {
  return field(offset, 1, doc, rows, {
    get: (data, at) => data.getUint8(at),
    set(data, at, value: number) {
      if ((value & 0xff) !== value) refuse(doc, 'an integer from 0 to 255', value)
      data.setUint8(at, value)
    },
  })
}

export function u16(offset: number, doc: string): Field<number, None, None>
export function u16<const B extends BitsMap>(offset: number, doc: string, rows: B): Field<number, B, None>
export function u16(offset: number, doc: string, rows: BitsMap = none): Field<number> {
  return field(offset, 2, doc, rows, {
    get: (data, at) => data.getUint16(at, true),
    set(data, at, value: number) {
      if ((value & 0xffff) !== value) refuse(doc, 'an integer from 0 to 65535', value)
      data.setUint16(at, value, true)
    },
  })
}

export function u32(offset: number, doc: string): Field<number, None, None>
export function u32<const B extends BitsMap>(offset: number, doc: string, rows: B): Field<number, B, None>
export function u32(offset: number, doc: string, rows: BitsMap = none): Field<number> {
  return field(offset, 4, doc, rows, {
    get: (data, at) => data.getUint32(at, true),
    set(data, at, value: number) {
      if (value >>> 0 !== value) refuse(doc, 'an integer from 0 to 2^32 - 1', value)
      data.setUint32(at, value, true)
    },
  })
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
    get: (data, at) => data.getBigUint64(at, true),
    set(data, at, value: bigint) {
      if (BigInt.asUintN(64, value) !== value) refuse(doc, 'a bigint from 0 to 2^64 - 1', value)
      data.setBigUint64(at, value, true)
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
  return field(offset, 8, doc, none, {
    get: (data, at) => data.getUint32(at, true) + data.getUint32(at + 4, true) * 0x1_0000_0000,
    set(data, at, value: number) {
      if (!(value >= 0 && value <= Number.MAX_SAFE_INTEGER && Math.floor(value) === value)) {
        refuse(doc, 'an integer from 0 to 2^53 - 1', value)
      }
      data.setUint32(at, value >>> 0, true)
      data.setUint32(at + 4, (value / 0x1_0000_0000) >>> 0, true)
    },
    format: hex,
  })
}

/** A 128-bit counter or capacity, as a bigint. */
export function u128(offset: number, doc: string): Field<bigint, None, None> {
  return field(offset, 16, doc, none, {
    get: (data, at) => data.getBigUint64(at, true) | (data.getBigUint64(at + 8, true) << 64n),
    set(data, at, value: bigint) {
      if (BigInt.asUintN(128, value) !== value) refuse(doc, 'a bigint from 0 to 2^128 - 1', value)
      data.setBigUint64(at, BigInt.asUintN(64, value), true)
      data.setBigUint64(at + 8, value >> 64n, true)
    },
  })
}

/** ASCII, left justified and padded - with spaces, as most of the spec's strings are; read without the padding. */
export function ascii(
  offset: number,
  lengthBytes: number,
  doc: string,
  padding: 0x20 | 0 = 0x20,
): Field<string, None, None> {
  return field(offset, lengthBytes, doc, none, {
    get(data, at) {
      let text = ''
      for (let i = 0; i < lengthBytes; i++) text += String.fromCharCode(data.getUint8(at + i))
      return text.replace(/[ \0]+$/, '')
    },
    set(data, at, value: string) {
      if (value.length > lengthBytes || /[^\x20-\x7e]/.test(value)) {
        refuse(doc, `at most ${lengthBytes} printable ASCII characters`, JSON.stringify(value))
      }
      for (let i = 0; i < lengthBytes; i++) data.setUint8(at + i, i < value.length ? value.charCodeAt(i) : padding)
    },
    format: (value) => JSON.stringify(value),
  })
}

/** Bytes with no structure of their own; reading gives a view of the same memory, not a copy. */
export function bytes(offset: number, lengthBytes: number, doc: string): Field<Uint8Array, None, None> {
  return field(offset, lengthBytes, doc, none, {
    get: (data, at) => new Uint8Array(data.buffer, data.byteOffset + at, lengthBytes),
    set(data, at, value: Uint8Array) {
      if (value.length !== lengthBytes) refuse(doc, `${lengthBytes} bytes`, `${value.length} bytes`)
      new Uint8Array(data.buffer, data.byteOffset + at, lengthBytes).set(value)
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
    get: (data, at) => Uint32Array.from({ length: count }, (_, i) => data.getUint32(at + i * 4, true)),
    set(data, at, value: Uint32Array) {
      if (value.length !== count) refuse(doc, `${count} words`, `${value.length} words`)
      value.forEach((word, i) => data.setUint32(at + i * 4, word, true))
    },
    format: (value) => Array.from(value, hex).join(','),
  })
}

/** A part of a 32-bit word of a structure: bits of the dword at `offset`. */
export function dwordBits<T extends number, V extends NamedValues>(offset: number, row: Bits<T, V>): Field<T, None, V> {
  const { msb, lsb, doc, values } = row
  const mask = 0xffff_ffff >>> (31 - (msb - lsb))
  const clear = ~(mask << lsb)
  const named = Object.values(values)
  return {
    offset,
    lengthBytes: 4,
    bits: { msb, lsb },
    doc,
    rows: none,
    values,
    get: (data, at) => ((data.getUint32(at, true) >>> lsb) & mask) as T,
    set(data, at, value: T) {
      if (named.length > 0 || (value & mask) !== value) placeBits('dword', doc, row, value)
      data.setUint32(at, (data.getUint32(at, true) & clear) | (value << lsb), true)
    },
    format: (value) => Object.keys(values).find((key) => values[key] === value) ?? String(value),
  }
}

export type FieldValue<F> = F extends Field<infer T> ? T : never
