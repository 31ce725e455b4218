// Reads and writes the value of one row in memory. Rows reference their access function, so that a program bundles only
// the kinds it uses.
import { rejectValue, type Where } from './facts.js'

/** Named values of a field, with the specification's names. */
export type NamedValues = Readonly<Record<string, number>>

/** A row in memory: bits msb:lsb of the little-endian word of `lengthBytes` bytes at byte `offset` of a structure. */
export interface Placed {
  readonly offset: number
  readonly lengthBytes: number
  /** Bytes per element of an array; otherwise the length of the word. */
  readonly elementBytes: number
  readonly msb: number
  readonly lsb: number
  readonly doc: string
  readonly values: NamedValues
  /** Values without a name may be stored. */
  readonly open?: boolean
  readonly zeroBased?: boolean
  /** Text that ends at its first null. */
  readonly nullTerminated?: boolean
}

/**
 * Access to a row. `get` and `set` take the DataView and the byte offset of the structure, and add the row's offset.
 * Accessors that only forward two values are always small enough for inlining.
 */
export interface RowAccess<T = unknown> {
  /** Returns the value in the structure at byte `base` of `data`. */
  readonly get: (data: DataView, base: number) => T
  /** @throws TypeError or RangeError, beginning with the name, for a value that does not fit; nothing is truncated. */
  readonly set: (data: DataView, base: number, value: T, where: Where) => void
  /** Like `set`, if structure and row are aligned to a dword and the host is little endian. */
  readonly setWords?: (cursor: { words: Uint32Array; base: number }, value: T, where: Where) => void
}

/** The properties of a row that a check needs. */
type Checked = Pick<Placed, 'msb' | 'lsb' | 'doc' | 'values' | 'open' | 'zeroBased'>

/** Throws if a value does not fit. */
type Check = (where: Where, value: unknown) => void

/** Returns the access to a row. */
// oxlint-disable-next-line typescript/no-explicit-any -- of a row of any value type
export type Codec = (row: Placed) => RowAccess<any>

/** Returns the name of a value in a row, or the number if it has none; in hexadecimal if vendors may define values. */
export function nameIn({ values, open }: Pick<Placed, 'values' | 'open'>, value: number): string {
  for (const name in values) if (values[name] === value) return name
  return open ? `0x${value.toString(16)}` : String(value)
}

/** Returns whether a map has a name. */
export function hasAny(map: object): boolean {
  for (const _ in map) return true
  return false
}

/** Returns whether only the named values of a row may be stored. */
export function isClosed({ values, open }: Pick<Placed, 'values' | 'open'>): boolean {
  return !open && hasAny(values)
}

function expectedOf(row: Checked): string {
  const { values, zeroBased, msb, lsb } = row
  if (isClosed(row))
    return Object.keys(values)
      .map((name) => `${values[name]} (${name})`)
      .join(', ')
  const max = msb - lsb > 52 ? '2^53 - 1' : 2 ** (msb - lsb + 1) - 1
  return zeroBased
    ? `a 0's based value from 0 to ${max}, zeroBased(count) of 1 to ${Number(max) + 1}`
    : `an integer from 0 to ${max}`
}

/** Returns whether a row has more than 32 bits; its values are bigints. */
export function isBig({ msb, lsb }: Pick<Placed, 'msb' | 'lsb'>): boolean {
  return msb - lsb > 31
}

/** Returns the check of a row of more than 32 bits. */
export function checkBig({ msb, lsb, doc }: Checked): Check {
  const width = msb - lsb + 1
  return (where, value) => {
    if (typeof value !== 'bigint' || BigInt.asUintN(width, value) !== value)
      rejectValue(where, doc, `a bigint from 0 to 2^${width} - 1`, value, 'bigint')
  }
}

/** Returns the check of a row's values. `setWords` calls it only for values that may not fit, to stay small. */
export function checkOf(row: Checked): Check {
  const end = Math.min(2 ** (row.msb - row.lsb + 1), 2 ** 53)
  const named = isClosed(row) ? (Object.values(row.values) as unknown[]) : undefined
  return (where, value) => {
    const fits = named
      ? named.includes(value)
      : Number.isInteger(value) && (value as number) >= 0 && (value as number) < end
    if (!fits) rejectValue(where, row.doc, expectedOf(row), value)
  }
}

/** A byte. */
export function byte(row: Placed): RowAccess<number> {
  const { offset } = row
  const check = checkOf(row)
  return {
    get: (data, base) => data.getUint8(base + offset),
    set(data, base, value, where) {
      check(where, value)
      data.setUint8(base + offset, value)
    },
  }
}

/** A word of 16 bits. */
export function half(row: Placed): RowAccess<number> {
  const { offset } = row
  const check = checkOf(row)
  return {
    get: (data, base) => data.getUint16(base + offset, true),
    set(data, base, value, where) {
      check(where, value)
      data.setUint16(base + offset, value, true)
    },
  }
}

/** A dword. */
export function dword(row: Placed): RowAccess<number> {
  const { offset } = row
  const [closed, check] = [isClosed(row), checkOf(row)]
  return {
    get: (data, base) => data.getUint32(base + offset, true),
    set(data, base, value, where) {
      check(where, value)
      data.setUint32(base + offset, value, true)
    },
    setWords(cursor, value, where) {
      if (closed || typeof value !== 'number' || value >>> 0 !== value) check(where, value)
      cursor.words[(cursor.base + offset) >>> 2] = value
    },
  }
}

/** Bits of a dword. */
export function part(row: Placed): RowAccess<number> {
  const { offset, msb, lsb } = row
  const mask = 0xffff_ffff >>> (31 - msb + lsb)
  const keep = ~(mask << lsb)
  const [closed, check] = [isClosed(row), checkOf(row)]
  return {
    get: (data, base) => ((data.getUint32(base + offset, true) >>> lsb) & mask) >>> 0,
    set(data, base, value, where) {
      check(where, value)
      const at = base + offset
      data.setUint32(at, (data.getUint32(at, true) & keep) | (value << lsb), true)
    },
    setWords(cursor, value, where) {
      if (closed || typeof value !== 'number' || (value & mask) >>> 0 !== value) check(where, value)
      const { words } = cursor
      const at = (cursor.base + offset) >>> 2
      words[at] = (words[at]! & keep) | (value << lsb)
    },
  }
}

/** 48 bits as a number. */
export function long48(row: Placed): RowAccess<number> {
  const { offset } = row
  const check = checkOf(row)
  return {
    get: (data, base) => data.getUint32(base + offset, true) + data.getUint16(base + offset + 4, true) * 2 ** 32,
    set(data, base, value, where) {
      check(where, value)
      data.setUint32(base + offset, value, true)
      data.setUint16(base + offset + 4, value / 2 ** 32, true)
    },
  }
}

/** 64 bits as a number. Inexact from 2^53. */
export function long(row: Placed): RowAccess<number> {
  const { offset } = row
  const check = checkOf(row)
  return {
    get: (data, base) => data.getUint32(base + offset, true) + data.getUint32(base + offset + 4, true) * 2 ** 32,
    // A store into 32 bits takes a number modulo 2^32, so the low half needs no arithmetic.
    set(data, base, value, where) {
      check(where, value)
      const at = base + offset
      data.setUint32(at, value, true)
      data.setUint32(at + 4, value / 2 ** 32, true)
    },
    setWords(cursor, value, where) {
      // Spelled out: Node 26 does not inline Number.isSafeInteger, which costs a quarter of encoding a command.
      if (typeof value !== 'number' || !(value >= 0 && value < 2 ** 53 && Math.floor(value) === value))
        check(where, value)
      const { words } = cursor
      const at = (cursor.base + offset) >>> 2
      words[at] = value
      words[at + 1] = value / 2 ** 32
    },
  }
}

/** 64 bits as a bigint. */
export function big(row: Placed): RowAccess<bigint> {
  const { offset } = row
  const check = checkBig(row)
  return {
    get: (data, base) => data.getBigUint64(base + offset, true),
    set(data, base, value, where) {
      check(where, value)
      data.setBigUint64(base + offset, value, true)
    },
  }
}

/** 128 bits as a bigint. */
export function big128(row: Placed): RowAccess<bigint> {
  const { offset } = row
  const check = checkBig(row)
  return {
    get: (data, base) => data.getBigUint64(base + offset, true) | (data.getBigUint64(base + offset + 8, true) << 64n),
    set(data, base, value, where) {
      check(where, value)
      data.setBigUint64(base + offset, BigInt.asUintN(64, value), true)
      data.setBigUint64(base + offset + 8, value >> 64n, true)
    },
  }
}

/** ASCII text: left justified and padded with spaces, or terminated by a null. An open row accepts any bytes. */
export function text({ offset, lengthBytes, doc, nullTerminated, open }: Placed): RowAccess<string> {
  const longest = nullTerminated && !open ? lengthBytes - 1 : lengthBytes
  const padding = nullTerminated ? 0 : 0x20
  const refused = open ? /[^\0-\xff]/ : /[^\x20-\x7e]/
  return {
    get(data, base) {
      let value = ''
      for (let i = 0; i < lengthBytes; i++) value += String.fromCharCode(data.getUint8(base + offset + i))
      return nullTerminated ? value.slice(0, (value + '\0').indexOf('\0')) : value.replace(/[ \0]+$/, '')
    },
    set(data, base, value, where) {
      if (typeof value !== 'string' || value.length > longest || refused.test(value))
        rejectValue(where, doc, `at most ${longest} ${open ? '8-bit' : 'printable ASCII'} characters`, value, 'string')
      for (let i = 0; i < lengthBytes; i++)
        data.setUint8(base + offset + i, i < value.length ? value.charCodeAt(i) : padding)
    },
  }
}

/** Bytes without further structure; reading returns a view of the same memory, not a copy. */
export function octets({ offset, lengthBytes, doc }: Placed): RowAccess<Uint8Array> {
  const view = (data: DataView, base: number) =>
    new Uint8Array(data.buffer, data.byteOffset + base + offset, lengthBytes)
  return {
    get: view,
    set(data, base, value, where) {
      if (!(value instanceof Uint8Array) || value.length !== lengthBytes)
        refuseArray(where, doc, `${lengthBytes} bytes (Uint8Array)`, value, 'bytes')
      view(data, base).set(value)
    },
  }
}

/** Type of an array of words of 2, 4 or 8 bytes. */
export type Words = Uint16Array | Uint32Array | BigUint64Array

/** An array of words of 2, 4 or 8 bytes; reading returns a copy. */
export function words({ offset, lengthBytes, elementBytes, doc }: Placed): RowAccess<Words> {
  const count = lengthBytes / elementBytes
  const Kind = elementBytes === 2 ? Uint16Array : elementBytes === 4 ? Uint32Array : BigUint64Array
  return {
    get(data, base) {
      const copy = new Kind(count)
      for (let i = 0, at = base + offset; i < count; i++, at += elementBytes)
        copy[i] =
          elementBytes === 2
            ? data.getUint16(at, true)
            : elementBytes === 4
              ? data.getUint32(at, true)
              : data.getBigUint64(at, true)
      return copy
    },
    set(data, base, value, where) {
      if (!(value instanceof Kind) || value.length !== count)
        refuseArray(where, doc, `${count} words (${Kind.name})`, value, 'words')
      for (let i = 0, at = base + offset; i < count; i++, at += elementBytes) {
        const word = value[i]!
        if (typeof word === 'bigint') data.setBigUint64(at, word, true)
        else if (elementBytes === 2) data.setUint16(at, word, true)
        else data.setUint32(at, word, true)
      }
    },
  }
}

function refuseArray(where: Where, doc: string, expected: string, got: unknown, unit: string): never {
  if (ArrayBuffer.isView(got) && 'length' in got)
    throw new RangeError(
      `${where.name} (${doc}): expected ${expected}, got ${String(got.length)} ${unit} (${where.spec})`,
    )
  return rejectValue(where, doc, expected, got, 'typed array')
}
