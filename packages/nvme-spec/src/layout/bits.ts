import { checkRows } from './check.js'
import { bindRows } from './handles.js'
import { isPlain } from './placed.js'
import { refuse, shown, type Where } from './spec-ref.js'
import type { ZeroBased } from './zero-based.js'

/** Named values of a field, with the specification's names. */
export type NamedValues = Readonly<Record<string, number>>

/**
 * One row of a figure: a bit field of a word. `T` is the type that may be stored; reading an enumerated field gives a
 * plain number, since a device may return a reserved value.
 */
export interface Bits<T extends number | bigint = number, V extends NamedValues = NamedValues> {
  readonly msb: number
  readonly lsb: number
  readonly doc: string
  readonly values: V
  /** Values without a name may be stored: vendors and later revisions define their own. */
  readonly open?: true
  readonly zeroBased?: true
  /** Wider than 32 bits: read and written as a bigint. */
  readonly wide?: true
  /** Never present; carries the stored type. */
  readonly stores?: T
}

/** The rows of a word, by name. */
export type BitsMap = Readonly<Record<string, Bits | Bits<bigint>>>

/** Type of the values that may be stored in a field. */
export type Stored<B> = B extends Bits<infer T> ? T : never

/** Type of the values read from a field. */
export type Loaded<B> = Stored<B> extends bigint ? bigint : Stored<B> extends ZeroBased ? ZeroBased : number

/** No rows, or no named values. */
export type None = Readonly<Record<never, never>>

/** A word's rows as an object; `reserved` holds set bits that no row declares. */
export type DecodedBits<F extends BitsMap, R = number> = { readonly [K in keyof F]: Loaded<F[K]> } & {
  readonly reserved?: R
}

/** Rows to store in a word; missing rows are zero, or keep their value. */
export type BitsValues<F extends BitsMap, R = number> = { readonly [K in keyof F]?: Stored<F[K]> } & {
  readonly reserved?: R
}

/** Declares a row of a single bit; 0 is the least significant one. */
/*#__NO_SIDE_EFFECTS__*/
export function bit(at: number, doc: string): Bits<0 | 1, None> {
  return bits(at, at, doc) as Bits<0 | 1, None>
}

/**
 * Declares a row of bits msb:lsb, at most 32; with `values`, only those may be stored.
 * @throws RangeError for more than 32 bits, or if msb is below lsb.
 */
export function bits(msb: number, lsb: number, doc: string): Bits<number, None>
export function bits<const V extends NamedValues>(msb: number, lsb: number, doc: string, values: V): Bits<V[keyof V], V>
/*#__NO_SIDE_EFFECTS__*/
export function bits(msb: number, lsb: number, doc: string, values: NamedValues = {}): Bits {
  if (msb < lsb || msb - lsb > 31) throw new RangeError(`bits ${msb}:${lsb} (${doc}): expected 1 to 32 bits, msb first`)
  return { msb, lsb, doc, values }
}

/**
 * Declares a row of bits msb:lsb in which some values have names; others may be stored too.
 * @throws RangeError as `bits`.
 */
/*#__NO_SIDE_EFFECTS__*/
export function openBits<const V extends NamedValues>(
  msb: number,
  lsb: number,
  doc: string,
  values: V,
): Bits<number, V> {
  return { ...bits(msb, lsb, doc), values, open: true }
}

/** Declares a row of bits msb:lsb that holds a 0's based count. @throws RangeError as `bits`. */
/*#__NO_SIDE_EFFECTS__*/
export function count(msb: number, lsb: number, doc: string): Bits<ZeroBased, None> {
  return { ...bits(msb, lsb, doc), zeroBased: true } as Bits<ZeroBased, None>
}

/** Declares a row of more than 32 bits: an address, as a bigint. @throws RangeError for 32 bits or fewer. */
/*#__NO_SIDE_EFFECTS__*/
export function wideBits(msb: number, lsb: number, doc: string): Bits<bigint, None> {
  if (msb - lsb < 32) throw new RangeError(`bits ${msb}:${lsb} (${doc}): declare 32 bits or fewer with bits()`)
  return { msb, lsb, doc, values: {}, wide: true }
}

/** A bit field bound to its declaration: reads its value from a raw word, and has its named values as properties. */
export type BitsHandle<B> = {
  readonly name: string
  readonly msb: number
  readonly lsb: number
  readonly doc: string
  readonly values: NamedValues
  /** Returns this field's value in a raw word. */
  of(raw: number | bigint): Loaded<B>
  /** Returns the specification's name of a value, or the number if it has none. */
  nameOf(value: number): string
} & (B extends Bits<number | bigint, infer V> ? V : None)

/**
 * Binds the rows of one word.
 * @param owner name of the word, for errors.
 * @throws RangeError for rows that overlap or exceed the word.
 */
export function bindBits<F extends BitsMap>(
  owner: string,
  widthBits: number,
  rows: F,
): { readonly [K in keyof F]: BitsHandle<F[K]> } {
  checkRows(owner, widthBits, rows)
  return bindRows(rows)
}

/** Returns the name of a value in a row, or the number if it has none; in hexadecimal if vendors may define values. */
export function nameIn({ values, open }: { values: NamedValues; open?: boolean }, value: number): string {
  for (const name in values) if (values[name] === value) return name
  return open ? `0x${value.toString(16)}` : String(value)
}

/** Returns a row's value in a raw word. A word of at most 32 bits may be a number or a bigint. */
export function loadBits(raw: number | bigint, row: Bits | Bits<bigint>): number | bigint {
  const { msb, lsb } = row
  if (typeof raw === 'number' && msb < 32) return ((raw >>> lsb) & (0xffff_ffff >>> (31 - (msb - lsb)))) >>> 0
  if (typeof raw !== 'bigint' && !Number.isSafeInteger(raw))
    throw new TypeError(`expected a raw word as a number or a bigint, got ${shown(raw)}`)
  const value = (BigInt(raw) >> BigInt(lsb)) & maskOf(row)
  return row.wide ? value : Number(value)
}

/**
 * Rejects a value that a row of at most 32 bits cannot hold.
 * @throws TypeError for a value of the wrong type, RangeError for one that does not fit or is not a named value.
 */
export function checkBits(where: Where, row: Bits, value: unknown): void {
  const { values, open, zeroBased } = row
  const max = 2 ** (row.msb - row.lsb + 1) - 1
  const named = open ? [] : Object.entries(values)
  const fits =
    named.length > 0
      ? named.some(([, allowed]) => allowed === value)
      : Number.isInteger(value) && (value as number) >= 0 && (value as number) <= max
  const expected = named.map(([key, allowed]) => `${allowed} (${key})`).join(', ') || upTo(max, zeroBased)
  if (!fits) refuse(where, row.doc, expected, value)
}

function checkWide(where: Where, row: Bits<bigint>, value: unknown): void {
  const max = maskOf(row)
  if (typeof value !== 'bigint' || value < 0n || value > max)
    refuse(where, row.doc, `a bigint from 0 to ${max}`, value, 'bigint')
}

/**
 * Describes the expected value of a field with this maximum; for a 0's based field, explains the conversion of a count.
 */
export function upTo(max: number, zeroBased?: boolean): string {
  return zeroBased
    ? `a 0's based value from 0 to ${max}, zeroBased(count) of 1 to ${max + 1}`
    : `an integer from 0 to ${max}`
}

/** Decodes the rows of a raw word to an object; `reserved` holds set bits that no row declares. */
export function decodeBits<R extends number | bigint>(raw: R, rows: BitsMap): DecodedBits<BitsMap, R> {
  const values: Record<string, number | bigint> = {}
  for (const name in rows) values[name] = loadBits(raw, rows[name]!)
  const rest = undeclaredBits(raw, rows)
  if (rest) values['reserved'] = rest
  return values as DecodedBits<BitsMap, R>
}

/**
 * Returns the word `base` with these rows set. `reserved` sets bits that no row declares.
 * @param asFound also stores values that the specification reserves, as written by a device.
 * @throws TypeError for an unknown name or a value of the wrong type; RangeError for one that does not fit.
 */
export function encodeBits(
  where: Where,
  widthBits: number,
  rows: BitsMap,
  values: unknown,
  base: bigint,
  asFound = false,
): bigint {
  if (!isPlain(values)) refuse(where, 'fields', 'an object of fields', values, '')
  let word = base
  for (const [key, value] of Object.entries(values)) {
    const row = Object.hasOwn(rows, key) ? rows[key] : undefined
    const at = { name: `${where.name}.${key}`, spec: where.spec }
    if (row !== undefined) {
      if (row.wide) checkWide(at, row as Bits<bigint>, value)
      else checkBits(at, asFound ? { ...(row as Bits), open: true } : (row as Bits), value)
      word = (word & ~placedMask(row)) | (BigInt(value as number) << BigInt(row.lsb))
    } else if (key === 'reserved') {
      const free = undeclaredBits((1n << BigInt(widthBits)) - 1n, rows)
      const integer = typeof value === 'bigint' || Number.isSafeInteger(value)
      if (!integer || (BigInt(value as number) & ~free) !== 0n)
        refuse(
          at,
          'bits that no row declares',
          `bits of 0x${free.toString(16)}`,
          value,
          widthBits === 64 ? 'bigint' : 'number',
        )
      word = (word & ~free) | BigInt(value as number)
    } else {
      throw new TypeError(
        `${where.name} has no field ${key}; its fields: ${Object.keys(rows).join(' ')} (${where.spec})`,
      )
    }
  }
  return word
}

/** Formats a raw word as `EN=1 CSS=NVM …`; set bits that no row declares are shown too. */
export function formatBits(raw: number | bigint, rows: BitsMap): string {
  const parts: string[] = []
  for (const name in rows) {
    const value = loadBits(raw, rows[name]!)
    parts.push(`${name}=${typeof value === 'bigint' ? `0x${value.toString(16)}` : nameIn(rows[name]!, value)}`)
  }
  const rest = undeclaredBits(raw, rows)
  if (rest) parts.push(`reserved=0x${rest.toString(16)}`)
  return parts.join(' ')
}

/**
 * Returns the bits of a raw word that no row declares. A number for a number, which is ten times faster than a bigint.
 */
function undeclaredBits<R extends number | bigint>(raw: R, rows: BitsMap): R
function undeclaredBits(raw: number | bigint, rows: BitsMap): number | bigint {
  if (typeof raw === 'bigint') return Object.values(rows).reduce((rest, row) => rest & ~placedMask(row), raw)
  let rest = raw
  for (const name in rows) {
    const { msb, lsb } = rows[name]!
    rest &= ~((0xffff_ffff >>> (31 - (msb - lsb))) << lsb)
  }
  return rest >>> 0
}

/** Returns the bits of the word that a row occupies. */
export function placedMask(row: { msb: number; lsb: number }): bigint {
  return maskOf(row) << BigInt(row.lsb)
}

function maskOf(row: { msb: number; lsb: number }): bigint {
  return (1n << BigInt(row.msb - row.lsb + 1)) - 1n
}

/**
 * Returns the rows, or the named values, of several maps as one. Declarations use it instead of `{ ...rows }`: a bundler
 * cannot know that a spread runs no code, and keeps it even if nothing uses the declaration.
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
