import {
  decodeBits,
  encodeBits,
  formatBits,
  type BitsHandle,
  type BitsMap,
  type BitsValues,
  type DecodedBits,
} from './bits.js'
import { checkRows } from './check.js'
import { bindRows } from './handles.js'
import { shown, type SpecRef } from './spec-ref.js'

/** Facts of every declaration. */
export interface Facts {
  readonly doc: string
  readonly spec: SpecRef
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
  const raw = (value: bigint) => (widthBits === 32 ? Number(value) : value) as RawOf<W>
  const type = widthBits === 32 ? 'number' : 'bigint'
  const check = (value: RawOf<W>): RawOf<W> => {
    const typed = typeof value === type
    if (typed && (typeof value === 'number' ? value >>> 0 : BigInt.asUintN(64, value)) === value) return value
    throw new (typed ? RangeError : TypeError)(
      `${name}: expected ${widthBits} bits as a ${type}, got ${shown(value)} (${facts.spec})`,
    )
  }
  const methods: WordMethods<W, F> & X = {
    ...facts,
    name,
    widthBits,
    fields,
    encode: (values, base) =>
      raw(
        encodeBits({ name, spec: facts.spec }, widthBits, fields, values, BigInt(base === undefined ? 0 : check(base))),
      ),
    decode: (value) => decodeBits(check(value), fields) as unknown as DecodedBits<F, RawOf<W>>,
    describe: (value) => formatBits(check(value), fields),
    format: (value) =>
      `${name}=0x${check(value)
        .toString(16)
        .padStart(widthBits / 4, '0')} { ${methods.describe(value)} }`,
  }
  checkRows(name, widthBits, fields)
  return Object.freeze({ ...bindRows(fields), ...methods }) as unknown as Word<W, F> & X
}
