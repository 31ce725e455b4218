import type { ZeroBased } from './zero-based.js'

/** The values that a figure names for a field, in the spec's words. */
export type NamedValues = Readonly<Record<string, number>>

/**
 * One row of a figure: a run of bits inside a word. `T` is what may be stored in it; reading an enumerated field
 * gives a plain number, since a device may answer with a value that the spec reserves.
 */
export interface Bits<T extends number | bigint = number, V extends NamedValues = NamedValues> {
  readonly msb: number
  readonly lsb: number
  readonly doc: string
  readonly values: V
  readonly zeroBased: boolean
  /** Wider than 32 bits: read and written as a bigint. */
  readonly wide: boolean
  /** Never present; carries the stored type. */
  readonly stores?: T
}

export type BitsMap = Readonly<Record<string, Bits | Bits<bigint>>>

/** What may be stored in a field. */
export type Stored<B> = B extends Bits<infer T> ? T : never

/** What reading a field gives. */
export type Loaded<B> = Stored<B> extends bigint ? bigint : Stored<B> extends ZeroBased ? ZeroBased : number

/** No rows, or no named values. */
export type None = Readonly<Record<never, never>>

/** A single bit. */
export function bit(at: number, doc: string): Bits<0 | 1, None> {
  return { msb: at, lsb: at, doc, values: {}, zeroBased: false, wide: false }
}

/** Bits msb:lsb, at most 32 of them; with `values`, only those may be stored. */
export function bits(msb: number, lsb: number, doc: string): Bits<number, None>
export function bits<const V extends NamedValues>(msb: number, lsb: number, doc: string, values: V): Bits<V[keyof V], V>
export function bits(msb: number, lsb: number, doc: string, values: NamedValues = {}): Bits {
  if (msb < lsb || msb - lsb > 31) throw new RangeError(`bits ${msb}:${lsb} (${doc}): expected 1 to 32 bits, msb first`)
  return { msb, lsb, doc, values, zeroBased: false, wide: false }
}

/** Bits msb:lsb that hold a 0's based count. */
export function count(msb: number, lsb: number, doc: string): Bits<ZeroBased, None> {
  return { ...bits(msb, lsb, doc), zeroBased: true } as Bits<ZeroBased, None>
}

/** Bits msb:lsb of which there are more than 32: an address, as a bigint. */
export function wideBits(msb: number, lsb: number, doc: string): Bits<bigint, None> {
  if (msb - lsb < 32) throw new RangeError(`bits ${msb}:${lsb} (${doc}): 32 bits or fewer are declared with bits()`)
  return { msb, lsb, doc, values: {}, zeroBased: false, wide: true }
}

/** A bit field bound to its declaration: reads itself from a raw word, and carries its named values. */
export type BitsHandle<B> = {
  readonly name: string
  readonly msb: number
  readonly lsb: number
  readonly doc: string
  readonly values: NamedValues
  /** This field's value in a raw word. */
  of(raw: number | bigint): Loaded<B>
  /** The spec's name of a value, or the number where it has none. */
  nameOf(value: number): string
} & (B extends Bits<number | bigint, infer V> ? V : None)

/** Binds the rows of one word, and refuses rows that overlap or leave the word. */
export function bindBits<F extends BitsMap>(
  owner: string,
  widthBits: number,
  rows: F,
): { readonly [K in keyof F]: BitsHandle<F[K]> } {
  let taken = 0n
  const handles: Record<string, unknown> = {}
  for (const [name, row] of Object.entries(rows)) {
    const mask = placedMask(row)
    if (row.lsb < 0 || row.msb >= widthBits)
      throw new RangeError(`${owner}.${name}: bit ${row.msb} is outside ${widthBits} bits`)
    if ((taken & mask) !== 0n) throw new RangeError(`${owner}.${name}: bits ${row.msb}:${row.lsb} overlap another row`)
    taken |= mask
    const { msb, lsb, doc, values } = row
    const of = (raw: number | bigint) => loadBits(raw, row)
    const nameOf = (value: number) => Object.keys(values).find((key) => values[key] === value) ?? String(value)
    handles[name] = Object.freeze({ ...values, name, msb, lsb, doc, values, of, nameOf })
  }
  return handles as { readonly [K in keyof F]: BitsHandle<F[K]> }
}

/** A row's value in a raw word, which a number holds as well as a bigint when it has no more than 32 bits. */
export function loadBits(raw: number | bigint, row: Bits | Bits<bigint>): number | bigint {
  if (typeof raw === 'number' && row.msb < 32) {
    return ((raw >>> row.lsb) & (0xffff_ffff >>> (31 - (row.msb - row.lsb)))) >>> 0
  }
  const value = (BigInt(raw) >> BigInt(row.lsb)) & maskOf(row)
  return row.wide ? value : Number(value)
}

/**
 * A row's value, placed where it belongs in the word.
 * @throws RangeError, beginning with `name`, when the value does not fit or is none of the named ones.
 */
export function placeBits(name: string, row: Bits | Bits<bigint>, value: unknown): bigint {
  const fits = (typeof value === 'bigint' || Number.isSafeInteger(value)) && BigInt(value as number | bigint) >= 0n
  const word = fits ? BigInt(value as number | bigint) : -1n
  const named = Object.values(row.values)
  if (word < 0n || word > maskOf(row) || (named.length > 0 && !named.includes(Number(word)))) {
    const expected =
      named.length > 0
        ? Object.entries(row.values)
            .map(([key, number]) => `${number} (${key})`)
            .join(', ')
        : `an integer from 0 to ${maskOf(row)}`
    throw new RangeError(`${name} (${row.doc}): expected ${expected}, got ${String(value)}`)
  }
  return word << BigInt(row.lsb)
}

/** `EN=1 CSS=NVM …` of a raw word; bits that no row declares are shown, never hidden. */
export function formatBits(raw: number | bigint, rows: BitsMap): string {
  let rest = BigInt(raw)
  const parts = Object.entries(rows).map(([name, row]) => {
    rest &= ~placedMask(row)
    const value = loadBits(BigInt(raw), row)
    const known = Object.keys(row.values).find((key) => row.values[key] === Number(value))
    return `${name}=${known ?? (row.wide ? `0x${value.toString(16)}` : String(value))}`
  })
  if (rest !== 0n) parts.push(`reserved=0x${rest.toString(16)}`)
  return parts.join(' ')
}

/** The bits of the word that a row occupies. */
export function placedMask(row: { msb: number; lsb: number }): bigint {
  return maskOf(row) << BigInt(row.lsb)
}

function maskOf(row: { msb: number; lsb: number }): bigint {
  return (1n << BigInt(row.msb - row.lsb + 1)) - 1n
}
