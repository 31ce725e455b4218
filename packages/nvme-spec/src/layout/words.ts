import { checkBig, checkOf, hasAny, isBig, nameIn, type NamedValues } from './access.js'
import { checkRows } from './check.js'
import { checkNames, isPlain, rejectValue, describeValue, type Facts, type Where } from './facts.js'
import type { Bits, BitsMap, None, Stored, ZeroBased } from './rows.js'

/** Type of the values read from a row of a word. */
export type Loaded<B> = Stored<B> extends bigint ? bigint : Stored<B> extends ZeroBased ? ZeroBased : number

/** A word's rows as an object; `reserved` holds set bits that no row declares. */
export type DecodedBits<F extends BitsMap, R = number> = { readonly [K in keyof F]: Loaded<F[K]> } & {
  readonly reserved?: R
}

/** Rows to store in a word; missing rows are zero, or keep their value. */
export type BitsValues<F extends BitsMap, R = number> = { readonly [K in keyof F]?: Stored<F[K]> } & {
  readonly reserved?: R
}

/** Returns a row's value in a raw word. A word of at most 32 bits may be a number or a bigint. */
export function loadBits(raw: number | bigint, row: Bits): number | bigint {
  const { msb, lsb } = row
  if (typeof raw === 'number' && msb < 32) return ((raw >>> lsb) & (0xffff_ffff >>> (31 - msb + lsb))) >>> 0
  if (typeof raw !== 'bigint' && !Number.isSafeInteger(raw))
    throw new TypeError(`expected a raw word as a number or a bigint, got ${describeValue(raw)}`)
  const value = BigInt.asUintN(msb - lsb + 1, BigInt(raw) >> BigInt(lsb))
  return isBig(row) ? value : Number(value)
}

/**
 * Returns the bits of a raw word that no row declares. A number for a number, which is ten times faster than a bigint.
 */
export function undeclaredIn(raw: number | bigint, rows: BitsMap): number | bigint {
  if (typeof raw === 'bigint') return Object.values(rows).reduce((rest, row) => rest & ~bitsOf(row), raw)
  let rest = raw
  for (const name in rows) {
    const { msb, lsb } = rows[name]!
    rest &= ~((0xffff_ffff >>> (31 - msb + lsb)) << lsb)
  }
  return rest >>> 0
}

const bitsOf = ({ msb, lsb }: Bits) => ((1n << BigInt(msb - lsb + 1)) - 1n) << BigInt(lsb)

/** Returns the function that decodes a raw word with these rows; `reserved` holds set bits that no row declares. */
export function wordDecoder(rows: BitsMap): (raw: number | bigint) => Readonly<Record<string, unknown>> {
  let zeroes: Record<string, unknown> | undefined
  return (raw) => {
    const values = { ...(zeroes ??= zeroesOf(rows)) }
    if (raw === 0) return values
    for (const name in rows) {
      const value = loadBits(raw, rows[name]!)
      if (value !== 0) values[name] = value
    }
    const rest = undeclaredIn(raw, rows)
    if (rest) values['reserved'] = rest
    return values
  }
}

/**
 * Returns an object with the names of rows or fields, each 0. Storing values in a copy of it is several times faster
 * than adding names to an empty object, and most values are 0. It is a copy of `rows` for the same reason: V8 turns an
 * object to which many names are added into a hash table.
 */
export function zeroesOf(rows: object): Record<string, unknown> {
  const zeroes: Record<string, unknown> = { ...rows }
  for (const name in rows) zeroes[name] = 0
  return zeroes
}

/**
 * Returns the word `base` with these rows set; `reserved` sets bits that no row declares.
 * @throws TypeError for an unknown name or a value of the wrong type; RangeError for one that does not fit.
 */
export function encodeWord(where: Where, widthBits: number, rows: BitsMap, values: unknown, base = 0n): bigint {
  const { reserved, ...given } = (values ?? {}) as Record<string, unknown>
  checkNames(where, rows, isPlain(values) ? given : values)
  let word = base
  for (const [name, value] of Object.entries(given)) {
    const row = rows[name]!
    const check = isBig(row) ? checkBig(row) : checkOf(row)
    check({ ...where, name: `${where.name}.${name}` }, value)
    word = (word & ~bitsOf(row)) | (BigInt(value as number) << BigInt(row.lsb))
  }
  if (reserved === undefined) return word
  const free = undeclaredIn((1n << BigInt(widthBits)) - 1n, rows) as bigint
  const isInteger = typeof reserved === 'bigint' || Number.isSafeInteger(reserved)
  const type = widthBits > 32 ? 'bigint' : 'number'
  if (!isInteger || (BigInt(reserved as number) & ~free) !== 0n)
    rejectValue(
      { ...where, name: `${where.name}.reserved` },
      RESERVED_DOC,
      `bits of 0x${free.toString(16)}`,
      reserved,
      type,
    )
  return (word & ~free) | BigInt(reserved as number)
}

/** Subject of errors about `reserved`. */
export const RESERVED_DOC = 'bits that no row declares'

/** Formats the rows of a raw word as `EN=1 CSS=NVM …`; set bits that no row declares are shown too. */
export function describeWord(raw: number | bigint, rows: BitsMap): string {
  const parts = Object.entries(rows).map(([name, row]) => `${name}=${formatOf(row)(loadBits(raw, row))}`)
  const rest = undeclaredIn(raw, rows)
  if (rest) parts.push(`reserved=0x${rest.toString(16)}`)
  return parts.join(' ')
}

/** Returns how an integer is formatted: by name if it has one, in hexadecimal if that is customary. */
export function formatOf(
  row: Pick<Bits, 'msb' | 'lsb' | 'values' | 'open' | 'hex'>,
): (value: number | bigint) => string {
  const widthBits = row.msb - row.lsb + 1
  if (hasAny(row.values)) return (value) => nameIn(row, Number(value))
  if (row.hex) return (value) => `0x${hexOf(value).padStart(Math.ceil(widthBits / 4), '0')}`
  // Addresses and LBAs; a declared counter or capacity is not.
  return widthBits > 32 && row.hex === undefined ? (value) => `0x${hexOf(value)}` : String
}

/** Returns hexadecimal digits. A large number takes three times as long as the same bigint. */
function hexOf(value: number | bigint): string {
  return (value < 2 ** 31 ? value : BigInt(value)).toString(16)
}

/** A row bound to its declaration: reads its value from a raw word, and has its named values as properties. */
export type BitsHandle<B> = {
  readonly name: string
  readonly msb: number
  readonly lsb: number
  readonly doc: string
  readonly values: NamedValues
  /**
   * Returns this row's value in a raw word. A word of at most 32 bits may be a number or a bigint.
   * @throws TypeError if `raw` is neither.
   */
  of(raw: number | bigint): Loaded<B>
  /** Returns the specification's name of a value, or the number if it has none. */
  nameOf(value: number): string
} & (B extends Bits<number | bigint, infer V> ? V : None)

/**
 * Returns `methods` with a property for each row. Properties are created on first access, since a program uses few of
 * them.
 */
export function withHandles<R, M extends object>(
  rows: Readonly<Record<string, R>>,
  methods: M,
  handleOf: (name: string, row: R) => object,
): M {
  for (const name in rows) {
    let made: object | undefined
    Object.defineProperty(methods, name, { get: () => (made ??= handleOf(name, rows[name]!)), enumerable: true })
  }
  return methods
}

/** Binds a row of a word. */
export function bitsHandle(name: string, row: Bits): object {
  const { msb, lsb, doc, values } = row
  const of = (raw: number | bigint) => loadBits(raw, row)
  const nameOf = (value: number) => nameIn(row, value)
  return Object.freeze({ ...values, name, msb, lsb, doc, values, of, nameOf })
}

/** Type of a raw word: number for 32 bits, bigint for 64. */
export type RawOf<W extends 32 | 64> = W extends 32 ? number : bigint

/** Methods of every word. */
export interface WordMethods<W extends 32 | 64, F extends BitsMap> extends Facts {
  readonly name: string
  readonly widthBits: W
  readonly fields: F
  /**
   * Returns the raw word `base` with these fields set; missing fields keep their bits of `base` (default 0).
   * @throws TypeError for an unknown field or a value of the wrong type, RangeError for a value that does not fit its
   *   field.
   */
  encode(values: BitsValues<F, RawOf<W>> | DecodedBits<F, RawOf<W>>, base?: RawOf<W>): RawOf<W>
  /**
   * Decodes a raw word to an object; `reserved` holds set bits that no row declares.
   * @throws TypeError or RangeError if `raw` is not a word of this width.
   */
  decode(raw: RawOf<W>): DecodedBits<F, RawOf<W>>
  /**
   * Formats the fields as `EN=1 CSS=NVM …`, followed by set bits that no row declares, as `reserved=0x…`. @throws as
   * `decode`.
   */
  describe(raw: RawOf<W>): string
  /** Formats the raw word and its fields: `CC=0x00460001 { EN=1 CSS=NVM … }`. @throws as `decode`. */
  format(raw: RawOf<W>): string
}

/** Any dword, for code that looks words up by position. */
export type AnyWord32 = Omit<WordMethods<32, BitsMap>, 'fields'> & { readonly fields: BitsMap }

/** A word as declared by its figure. Its fields are properties: `CC.SHN.NORMAL`, `CSTS.RDY.of(raw)`. */
export type Word<W extends 32 | 64 = 32 | 64, F extends BitsMap = BitsMap> = WordMethods<W, F> & {
  readonly [K in keyof F]: BitsHandle<F[K]>
}

/**
 * Declares a dword that is not a register: a feature's Command Dword 11, Dword 0 of a completion.
 * @throws RangeError if rows overlap or exceed the dword.
 */
/*#__NO_SIDE_EFFECTS__*/
export function word32<const F extends BitsMap>(name: string, facts: Facts, fields: F): Word<32, F> {
  return word(name, 32, facts, fields)
}

/** Declares a word of either width; `facts` become its properties. @throws RangeError if rows overlap or exceed it. */
/*#__NO_SIDE_EFFECTS__*/
export function word<W extends 32 | 64, X extends Facts, F extends BitsMap>(
  name: string,
  widthBits: W,
  facts: X,
  fields: F,
): Word<W, F> & X {
  const where = { name, spec: facts.spec }
  const check = (value: RawOf<W>): RawOf<W> => {
    const type = widthBits === 32 ? 'number' : 'bigint'
    const isWord = typeof value === 'bigint' ? BigInt.asUintN(64, value) === value : value >>> 0 === value
    if (!isWord || typeof value !== type) rejectValue(where, facts.doc, `${widthBits} bits as a ${type}`, value, type)
    return value
  }
  const decode = wordDecoder(fields)
  const methods: WordMethods<W, F> & X = {
    ...facts,
    name,
    widthBits,
    fields,
    encode(values, base) {
      const word = encodeWord(where, widthBits, fields, values, BigInt(base === undefined ? 0 : check(base)))
      return (widthBits === 32 ? Number(word) : word) as RawOf<W>
    },
    decode: (value) => decode(check(value)) as unknown as DecodedBits<F, RawOf<W>>,
    describe: (value) => describeWord(check(value), fields),
    format: (value) =>
      `${name}=0x${check(value)
        .toString(16)
        .padStart(widthBits / 4, '0')} { ${methods.describe(value)} }`,
  }
  checkRows(name, widthBits, fields)
  return Object.freeze(withHandles(fields, methods, bitsHandle)) as unknown as Word<W, F> & X
}
