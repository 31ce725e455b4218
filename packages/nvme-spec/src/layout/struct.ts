import { bindBits, formatBits, type BitsHandle, type BitsMap } from './bits.js'
import type { Field, FieldValue } from './field.js'
import type { SpecRef } from './spec-ref.js'

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a field of any value type
export type FieldMap = Readonly<Record<string, Field<any>>>

export interface StructFacts {
  readonly bytes: number
  readonly doc: string
  readonly spec: SpecRef
}

/**
 * A moving view of structures that lie in memory: assigning to a field writes it, reading it loads it, and no
 * object is made per structure. `at(index)` moves to the index-th structure of an array and returns the cursor.
 */
export interface Cursor {
  at(index: number): this
}

/** The fields of a structure as its cursor gives them. */
export type Values<F extends FieldMap> = { -readonly [K in keyof F]: FieldValue<F[K]> }

/** A field's own bit rows, bound: `IdentifyController.OACS.FNVMS.of(view.OACS)`; and its named values. */
export type FieldHandle<F> = F extends { readonly rows: infer B extends BitsMap; readonly values: infer V }
  ? { readonly [K in keyof B]: BitsHandle<B[K]> } & V & Pick<Field, 'offset' | 'lengthBytes' | 'doc'>
  : never

export interface StructMethods<F extends FieldMap> extends StructFacts {
  readonly name: string
  readonly fields: F
  /** A cursor whose structure 0 starts at byteOffset of `data`. */
  view(data: DataView, byteOffset?: number): Cursor & Values<F>
  /** One structure in fresh, zeroed memory. */
  create(values?: Partial<Values<F>>): Cursor & Values<F> & { readonly data: DataView }
  /** One `NAME=value` a field, those equal to zero left out; bits of a word by name. */
  format(view: Values<F>): string[]
}

/** A structure as its figure declares it. Its fields are properties too: `SQE.CID.offset`. */
export type Struct<F extends FieldMap> = StructMethods<F> & { readonly [K in keyof F]: FieldHandle<F[K]> }

/** The state of every cursor; methods that a kind of structure adds to its cursors find it on `this`. */
export class CursorBase {
  data: DataView
  origin: number
  base: number
  /** The last base at which a structure fits. */
  last: number
  /**
   * The memory of `data` once more, where every structure in it is aligned to 8 bytes and the host is little-endian.
   * A compiler keeps what it knows of a typed array across stores, and finds out anew what a DataView is after each.
   */
  words: Uint32Array | undefined
  longs: Float64Array | undefined
  constructor(data: DataView, byteOffset: number, lengthBytes: number, aligned: boolean) {
    this.data = data
    this.origin = byteOffset
    this.base = byteOffset
    this.last = data.byteLength - lengthBytes
    this.words = aligned ? new Uint32Array(data.buffer, data.byteOffset, data.byteLength >>> 2) : undefined
    this.longs = aligned ? new Float64Array(data.buffer, data.byteOffset, data.byteLength >>> 3) : undefined
  }
}

const littleEndian = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1

/**
 * Declares a structure of `facts.bytes` bytes.
 * @throws RangeError when rows overlap or one leaves the structure.
 */
export function struct<const F extends FieldMap>(
  name: string,
  facts: StructFacts,
  fields: F,
  cursorMethods: CursorMethods = {},
): Struct<F> {
  declaredBits(name, facts.bytes, fields)
  const { AnyCursor, AlignedCursor } = cursorClasses(name, facts.bytes, fields)
  Object.assign(AnyCursor.prototype, cursorMethods)
  const view = (data: DataView, byteOffset = 0) => {
    if (byteOffset < 0 || byteOffset + facts.bytes > data.byteLength) {
      throw new RangeError(
        `${name} needs ${facts.bytes} bytes at offset ${byteOffset}, the view has ${data.byteLength} (${facts.spec})`,
      )
    }
    const aligned = littleEndian && (data.byteOffset | byteOffset | facts.bytes) % 8 === 0
    return new (aligned ? AlignedCursor : AnyCursor)(data, byteOffset, facts.bytes, aligned) as unknown as Cursor &
      Values<F> & { readonly data: DataView }
  }
  const handles = Object.fromEntries(
    Object.entries(fields).map(([key, { offset, lengthBytes, doc, rows, values }]) => [
      key,
      Object.freeze({
        ...bindBits(`${name}.${key}`, wordBits(rows, lengthBytes), rows),
        ...values,
        offset,
        lengthBytes,
        doc,
      }),
    ]),
  )
  const methods: StructMethods<F> = {
    ...facts,
    name,
    fields,
    view,
    create: (values = {}) => assignFields(name, fields, view(new DataView(new ArrayBuffer(facts.bytes))), values),
    format: (values) =>
      Object.entries(fields).flatMap(([key, row]) => {
        const value: unknown = values[key as keyof F]
        const text =
          Object.keys(row.rows).length > 0 && typeof value === 'number'
            ? `{ ${formatBits(value, row.rows)} }`
            : row.format(value)
        return isZero(value) ? [] : [`${key}=${text}`]
      }),
  }
  return Object.freeze({ ...handles, ...methods }) as unknown as Struct<F>
}

/** Methods that a kind of structure adds to its cursors, such as a command's `begin`. */
export type CursorMethods = Readonly<Record<string, (this: CursorBase, ...args: never[]) => unknown>>

function refuseIndex(name: string, index: number, lengthBytes: number): never {
  throw new RangeError(`${name}: index ${index} is outside the view of ${lengthBytes} bytes`)
}

/**
 * Two classes a structure, so that a field access is a property of a known shape: one for memory at any address,
 * and one that stores whole dwords through typed arrays, as most entries are in memory where that is possible.
 */
function cursorClasses(name: string, strideBytes: number, fields: FieldMap) {
  class AnyCursor extends CursorBase {
    at(index: number): this {
      const base = this.origin + index * strideBytes
      // A store outside a typed array is dropped without a word; this is where it is refused.
      if (!(base >= 0 && base <= this.last)) {
        refuseIndex(name, index, this.last + strideBytes)
      }
      this.base = base
      return this
    }
  }
  class AlignedCursor extends AnyCursor {
    declare words: Uint32Array
  }
  for (const [key, { get, set, setWords }] of Object.entries(fields)) {
    const label = `${name}.${key}`
    Object.defineProperty(AnyCursor.prototype, key, {
      get(this: CursorBase): unknown {
        return get(this.data, this.base)
      },
      set(this: CursorBase, value: unknown) {
        set(this.data, this.base, value, label)
      },
      enumerable: true,
    })
    if (setWords === undefined) continue
    Object.defineProperty(AlignedCursor.prototype, key, {
      get(this: CursorBase): unknown {
        return get(this.data, this.base)
      },
      set(this: AlignedCursor, value: unknown) {
        setWords(this, value, label)
      },
      enumerable: true,
    })
  }
  return { AnyCursor, AlignedCursor }
}

/**
 * Assigns to a cursor's fields, for values whose names the compiler may not have seen.
 * @throws TypeError for a name that is no field's: on a plain object it would be lost without a word.
 */
export function assignFields<C extends object>(name: string, fields: FieldMap, cursor: C, values: object): C {
  for (const key of Object.keys(values)) {
    if (!Object.hasOwn(fields, key)) {
      throw new TypeError(`${name} has no field ${key}; its fields: ${Object.keys(fields).join(' ')}`)
    }
  }
  return Object.assign(cursor, values)
}

/** The bits of the structure that rows declare; refuses rows that overlap or leave the structure. */
export function declaredBits(name: string, lengthBytes: number, fields: FieldMap): bigint {
  let taken = 0n
  for (const [key, field] of Object.entries(fields)) {
    const { msb, lsb } = field.bits ?? { msb: field.lengthBytes * 8 - 1, lsb: 0 }
    const mask = ((1n << BigInt(msb - lsb + 1)) - 1n) << BigInt(field.offset * 8 + lsb)
    if (field.offset < 0 || field.offset + field.lengthBytes > lengthBytes) {
      throw new RangeError(
        `${name}.${key}: bytes ${field.offset + field.lengthBytes - 1}:${field.offset} are outside ${lengthBytes} bytes`,
      )
    }
    if ((taken & mask) !== 0n) throw new RangeError(`${name}.${key}: overlaps another row at byte ${field.offset}`)
    taken |= mask
  }
  return taken
}

function wordBits(rows: BitsMap, lengthBytes: number): number {
  return Object.keys(rows).length === 0 ? 0 : Math.min(lengthBytes * 8, 32)
}

function isZero(value: unknown): boolean {
  if (value instanceof Uint8Array || value instanceof Uint32Array) return value.every((item: number) => item === 0)
  return value === 0 || value === 0n || value === ''
}
