import {
  bindBits,
  formatBits,
  loadBits,
  placedMask,
  placeBits,
  type BitsHandle,
  type BitsMap,
  type Loaded,
  type Stored,
} from './bits.js'
import type { SpecRef } from './spec-ref.js'

/** Every kind of access that the spec's register figures use; a field's own kind is in its row's doc. */
export type Access = 'ro' | 'rw' | 'rw1s' | 'rw1c'

export interface RegisterFacts<A extends Access = Access> {
  /** Byte offset in the controller's registers (BAR0). */
  readonly offset: number
  readonly access: A
  readonly doc: string
  readonly spec: SpecRef
}

/** The raw word of a register: number for 32 bits, bigint for 64. */
export type RawOf<W extends 32 | 64> = W extends 32 ? number : bigint

export type RegisterValues<F extends BitsMap> = { readonly [K in keyof F]?: Stored<F[K]> }

interface RegisterMethods<W extends 32 | 64, A extends Access, F extends BitsMap> extends RegisterFacts<A> {
  readonly name: string
  readonly widthBits: W
  readonly fields: F
  /**
   * The raw word with these fields set in `base`; fields not given keep base's bits (0 when there is no base).
   * @throws RangeError for a value that does not fit its field.
   */
  encode(values: RegisterValues<F>, base?: RawOf<W>): RawOf<W>
  decode(raw: RawOf<W>): { readonly [K in keyof F]: Loaded<F[K]> }
  /** `CC=0x00460001 { EN=1 CSS=NVM … }` */
  format(raw: RawOf<W>): string
}

/** A register as its figure declares it. Its fields are properties: `CC.SHN.NORMAL`, `CSTS.RDY.of(raw)`. */
export type Register<
  W extends 32 | 64 = 32 | 64,
  A extends Access = Access,
  F extends BitsMap = BitsMap,
> = RegisterMethods<W, A, F> & { readonly [K in keyof F]: BitsHandle<F[K]> }

export function register32<A extends Access, const F extends BitsMap>(
  name: string,
  facts: RegisterFacts<A>,
  fields: F,
): Register<32, A, F> {
  return register(name, 32, facts, fields)
}

export function register64<A extends Access, const F extends BitsMap>(
  name: string,
  facts: RegisterFacts<A>,
  fields: F,
): Register<64, A, F> {
  return register(name, 64, facts, fields)
}

function register<W extends 32 | 64, A extends Access, F extends BitsMap>(
  name: string,
  widthBits: W,
  facts: RegisterFacts<A>,
  fields: F,
): Register<W, A, F> {
  const raw = (word: bigint) => (widthBits === 32 ? Number(word) : word) as RawOf<W>
  const methods: RegisterMethods<W, A, F> = {
    ...facts,
    name,
    widthBits,
    fields,
    encode(values, base) {
      let word = BigInt(base ?? 0)
      for (const [key, value] of Object.entries(values)) {
        const row = Object.hasOwn(fields, key) ? fields[key] : undefined
        if (row === undefined)
          throw new TypeError(`${name} has no field ${key}; its fields: ${Object.keys(fields).join(' ')}`)
        word = (word & ~placedMask(row)) | placeBits(`${name}.${key}`, row, value)
      }
      return raw(word)
    },
    decode(word) {
      return Object.fromEntries(
        Object.entries(fields).map(([key, row]) => [key, loadBits(BigInt(word), row)]),
      ) as unknown as { readonly [K in keyof F]: Loaded<F[K]> }
    },
    format(word) {
      return `${name}=0x${word.toString(16).padStart(widthBits / 4, '0')} { ${formatBits(word, fields)} }`
    },
  }
  return Object.freeze({ ...bindBits(name, widthBits, fields), ...methods }) as unknown as Register<W, A, F>
}
