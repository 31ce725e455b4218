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
  constructor(data: DataView, byteOffset: number) {
    this.data = data
    this.origin = byteOffset
    this.base = byteOffset
  }
}

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
  checkRows(name, facts.bytes, fields)
  const View = cursorClass(facts.bytes, fields)
  Object.assign(View.prototype, cursorMethods)
  const view = (data: DataView, byteOffset = 0) => {
    if (byteOffset < 0 || byteOffset + facts.bytes > data.byteLength) {
      throw new RangeError(
        `${name} needs ${facts.bytes} bytes at offset ${byteOffset}, the view has ${data.byteLength} (${facts.spec})`,
      )
    }
    return new View(data, byteOffset) as unknown as Cursor & Values<F> & { readonly data: DataView }
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
    create: (values = {}) => Object.assign(view(new DataView(new ArrayBuffer(facts.bytes))), values),
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

/** One class a structure, so that a field access is a monomorphic property of a known shape. */
function cursorClass(strideBytes: number, fields: FieldMap): typeof CursorBase {
  class StructCursor extends CursorBase {
    at(index: number): this {
      this.base = this.origin + index * strideBytes
      return this
    }
  }
  for (const [key, { offset, get, set }] of Object.entries(fields)) {
    Object.defineProperty(StructCursor.prototype, key, {
      get(this: CursorBase): unknown {
        return get(this.data, this.base + offset)
      },
      set(this: CursorBase, value: unknown) {
        set(this.data, this.base + offset, value)
      },
      enumerable: true,
    })
  }
  return StructCursor
}

function checkRows(name: string, lengthBytes: number, fields: FieldMap): void {
  let taken = 0n
  for (const [key, field] of Object.entries(fields)) {
    const { msb, lsb } = field.bits ?? { msb: field.lengthBytes * 8 - 1, lsb: 0 }
    const mask = ((1n << BigInt(msb - lsb + 1)) - 1n) << BigInt(field.offset * 8 + lsb)
    if (field.offset + field.lengthBytes > lengthBytes) {
      throw new RangeError(`${name}.${key}: ends at byte ${field.offset + field.lengthBytes} of ${lengthBytes}`)
    }
    if ((taken & mask) !== 0n) throw new RangeError(`${name}.${key}: overlaps another row at byte ${field.offset}`)
    taken |= mask
  }
}

function wordBits(rows: BitsMap, lengthBytes: number): number {
  return Object.keys(rows).length === 0 ? 0 : Math.min(lengthBytes * 8, 32)
}

function isZero(value: unknown): boolean {
  if (value instanceof Uint8Array || value instanceof Uint32Array) return value.every((item: number) => item === 0)
  return value === 0 || value === 0n || value === ''
}
