// Structures as plain objects and as text. Separate from the declarations, so that bundles of programs that use only
// cursors do not contain it.
import { big, checkOf, hasAny, type RowAccess } from './access.js'
import { checkNames, isPlain, rejectValue, viewOf, type Memory, type Where } from './facts.js'
import { isPart, type Field, type FieldMap, type Layout, type Nested } from './rows.js'
import {
  encodeWord,
  formatOf,
  RESERVED_DOC,
  wordDecoder,
  zeroesOf,
  type BitsValues,
  type DecodedBits,
} from './words.js'

/** Decoded type of a field: words with rows become objects, arrays of structures become arrays of objects. */
export type DecodedField<F> =
  F extends Nested<infer D, unknown> ? (unknown extends D ? DecodedWord<F> : D) : DecodedWord<F>

/** Decoded type of a field other than an array of structures: its value, or an object of its rows. */
export type DecodedWord<F> =
  F extends Field<infer T, infer B>
    ? keyof B extends never
      ? T
      : T extends number
        ? DecodedBits<B>
        : readonly DecodedBits<B>[]
    : never

/** Encodable type of a field: its value, or an object of its rows. */
export type EncodableField<F> =
  F extends Nested<unknown, infer E> ? (unknown extends E ? EncodableWord<F> : E) : EncodableWord<F>

/** Encodable type of a field other than an array of structures: its value, or an object of its rows. */
export type EncodableWord<F> =
  F extends Field<infer T, infer B>
    ? keyof B extends never
      ? T
      : T extends number
        ? T | BitsValues<B> | DecodedBits<B>
        : T | readonly (BitsValues<B> | DecodedBits<B>)[]
    : never

/** Bytes of a structure that contain set bits that no row declares; their declared bits are zero here. */
export interface ReservedBytes {
  /** Offset from the start of the structure. */
  readonly offset: number
  readonly bytes: Uint8Array
}

/** A structure as a plain object, independent of the memory it was decoded from. */
export type Decoded<F extends FieldMap> = { readonly [K in keyof F]: DecodedField<F[K]> } & {
  /** Set bits that no row declares, as the bytes that contain them; all other bits are zero. */
  readonly reserved?: readonly ReservedBytes[]
}

/** Values to encode a structure from: the result of `decode`, or a part of it. */
export type Encodable<F extends FieldMap> = { readonly [K in keyof F]: EncodableField<F[K]> } & {
  readonly reserved?: readonly ReservedBytes[]
}

/** Strictness of encoding. */
export interface EncodeOptions {
  /**
   * Also stores values of enumerations that the specification reserves, as written by a device of a later revision, and
   * unprintable text. Otherwise they are rejected.
   */
  readonly allowReserved?: boolean
}

/** A field, prepared for decoding and encoding. */
export interface Entry {
  readonly key: string
  readonly field: NestedField
  readonly get: RowAccess['get']
  readonly set: RowAccess['set']
  /** Whether the field's words have rows. */
  readonly hasRows: boolean
  readonly format: (value: number | bigint) => string
  /** Decodes the field to its property of the object. */
  readonly load: (data: DataView, base: number) => unknown
}

/** A field; an array of structures also has their declaration. */
export type NestedField = Field & { readonly struct?: Layout; readonly count?: number }

/** A structure, prepared for decoding and encoding. */
interface Prepared {
  readonly entries: readonly Entry[]
  /** The fields, each 0. */
  readonly zeroes: Readonly<Record<string, unknown>>
  /** Bits that rows declare, by byte. */
  readonly declared: Uint8Array
  /** Texts that end at a null. */
  readonly texts: readonly Field[]
}

const prepared = new WeakMap<Layout, Prepared>()

export function prepare(layout: Layout): Prepared {
  const known = prepared.get(layout)
  if (known) return known
  const entries = Object.entries<NestedField>(layout.fields).map(([key, field]) => prepareField(key, field))
  const texts = Object.values(layout.fields).filter(({ nullTerminated }) => nullTerminated)
  const made = { entries, zeroes: zeroesOf(layout.fields), declared: declaredIn(layout), texts }
  prepared.set(layout, made)
  return made
}

function prepareField(key: string, field: NestedField): Entry {
  const { kind, offset, elementBytes, msb, lsb, rows, struct, count } = field
  const { get, set } = field.codec(field) as RowAccess
  const hasRows = hasAny(rows)
  const entry = { key, field, get, set, hasRows, format: formatOf(field) }
  if (struct !== undefined) {
    const load = (data: DataView, base: number) =>
      Array.from({ length: count! }, (_, i) => decodeFields(struct, data, base + offset + i * elementBytes))
    return { ...entry, load }
  }
  if (hasRows) {
    const decode = wordDecoder(rows)
    const load = (data: DataView, base: number) => {
      const raw = get(data, base)
      return typeof raw === 'number' ? decode(raw) : Array.from(raw as Uint32Array, decode)
    }
    return { ...entry, load }
  }
  if (kind === 'bytes') return { ...entry, load: (data, base) => (get(data, base) as Uint8Array).slice() }
  if (msb - lsb !== 63) return { ...entry, load: get }
  const load = (data: DataView, base: number) => {
    const value = get(data, base)
    const inexact = typeof value === 'number' && !Number.isSafeInteger(value)
    return inexact ? data.getBigUint64(base + offset, true) : value
  }
  return { ...entry, load }
}

/** Returns the bits of a structure that rows declare, as a byte mask. */
function declaredIn({ bytes, fields }: Layout): Uint8Array {
  const mask = new Uint8Array(bytes)
  for (const field of Object.values(fields)) {
    const { offset, lengthBytes, msb, lsb } = field
    if (!isPart(field)) mask.fill(0xff, offset, offset + lengthBytes)
    else for (let at = lsb; at <= msb; at++) mask[offset + (at >>> 3)]! |= 1 << (at & 7)
  }
  return mask
}

/**
 * Decodes the structure at byteOffset to a plain object. It is complete: words with rows are objects of their rows, and
 * set bits that no row declares are in `reserved`.
 * @throws RangeError if `memory` ends before the structure does.
 */
export function decodeFields<F extends FieldMap>(
  layout: Layout & { readonly fields: F },
  memory: Memory,
  byteOffset = 0,
): Decoded<F> {
  const data = viewOf(layout, memory, byteOffset)
  const struct = prepare(layout)
  const values = { ...struct.zeroes } as Record<string, unknown>
  for (const { key, load } of struct.entries) {
    const value = load(data, byteOffset)
    if (value !== 0) values[key] = value
  }
  const reserved = undeclared(struct, data, byteOffset)
  if (reserved.length > 0) values['reserved'] = reserved
  return values as Decoded<F>
}

/** Returns set bits that no field shows: outside all rows, or after the null of a text. */
export function undeclared(struct: Prepared, data: DataView, byteOffset: number): ReservedBytes[] {
  const runs: { offset: number; bytes: number[] }[] = []
  const shown = shownIn(struct, data, byteOffset)
  for (let offset = 0; offset < shown.length; offset++) {
    const rest = data.getUint8(byteOffset + offset) & ~shown[offset]!
    if (rest === 0) continue
    const last = runs.at(-1)
    if (last && last.offset + last.bytes.length === offset) last.bytes.push(rest)
    else runs.push({ offset, bytes: [rest] })
  }
  return runs.map(({ offset, bytes }) => ({ offset, bytes: Uint8Array.from(bytes) }))
}

/** Returns the bits that fields show, by byte: those of rows, without bytes after the null of a text. */
function shownIn({ declared, texts }: Prepared, data: DataView, base: number): Uint8Array {
  if (texts.length === 0) return declared
  const shown = declared.slice()
  for (const field of texts)
    shown.fill(0, field.offset + textBytes(field, data, base) + 1, field.offset + field.lengthBytes)
  return shown
}

/** Returns how many bytes of a field its value occupies: all, or for null-terminated text those before the null. */
export function textBytes({ nullTerminated, offset, lengthBytes }: Field, data: DataView, base: number): number {
  if (!nullTerminated) return lengthBytes
  let length = 0
  while (length < lengthBytes && data.getUint8(base + offset + length) !== 0) length++
  return length
}

/**
 * Writes a whole structure at byteOffset from the result of `decodeFields`, or a part of it; the rest is zero.
 * @throws TypeError or RangeError for a value that does not fit, naming the field; nothing is written then.
 */
export function encodeFields(
  layout: Layout,
  memory: Memory,
  byteOffset: number,
  values: unknown,
  options: EncodeOptions = {},
): void {
  const allowReserved = (options as EncodeOptions | null)?.allowReserved
  encodeStruct(layout.name, allowReserved ? opened(layout) : layout, memory, byteOffset, values)
}

function encodeStruct(name: string, layout: Layout, memory: Memory, byteOffset: number, values: unknown): void {
  const { bytes, spec, fields } = layout
  const data = viewOf({ name, bytes, spec }, memory, byteOffset)
  const { reserved, ...given } = (values ?? {}) as Record<string, unknown>
  checkNames({ name, spec }, fields, isPlain(values) ? given : values)
  const fresh = new DataView(new ArrayBuffer(bytes))
  for (const entry of prepare(layout).entries)
    if (Object.hasOwn(given, entry.key))
      encodeField({ name: `${name}.${entry.key}`, spec }, entry, fresh, given[entry.key])
  if (reserved !== undefined) encodeReserved({ name: `${name}.reserved`, spec }, layout, fresh, reserved)
  new Uint8Array(data.buffer, data.byteOffset + byteOffset, bytes).set(new Uint8Array(fresh.buffer))
}

function encodeField(where: Where, { field, set, hasRows }: Entry, data: DataView, value: unknown): void {
  const { kind, doc, offset, lengthBytes, elementBytes, struct, count } = field
  if (struct !== undefined) {
    if (!Array.isArray(value)) rejectValue(where, doc, `an array of at most ${count!} structures`, value, 'array')
    if (value.length > count!)
      throw new RangeError(
        `${where.name} (${doc}): expected at most ${count!} structures, got ${value.length} (${where.spec})`,
      )
    value.forEach((item, i) => {
      encodeStruct(`${where.name}[${i}]`, struct, data, offset + i * elementBytes, item)
    })
  } else if (kind === 'integer' && lengthBytes === 8 && typeof value === 'bigint') {
    big(field).set(data, 0, value, where)
  } else {
    set(data, 0, hasRows ? rawOf(where, field, value) : value, where)
  }
}

/** Returns a word, or an array of words, from numbers or from objects of their rows. */
function rawOf(where: Where, { doc, elementBytes, rows }: Field, value: unknown): unknown {
  const word = (given: unknown, at: Where) =>
    typeof given === 'object' && given !== null ? Number(encodeWord(at, elementBytes * 8, rows, given)) : given
  if (!Array.isArray(value)) return ArrayBuffer.isView(value) ? value : word(value, where)
  const check = checkOf({ msb: elementBytes * 8 - 1, lsb: 0, doc, values: {} })
  return Uint32Array.from(value, (given, i) => {
    const at = { ...where, name: `${where.name}[${i}]` }
    const raw = word(given, at)
    check(at, raw)
    return raw as number
  })
}

const openedLayouts = new WeakMap<Layout, Layout>()

/** Returns a layout whose enumerations accept any value, and whose texts accept any byte. */
function opened(layout: Layout): Layout {
  const known = openedLayouts.get(layout)
  if (known) return known
  const open = <R extends object>(rows: Readonly<Record<string, R>>, more: (row: R) => object) =>
    Object.fromEntries(Object.entries(rows).map(([key, row]) => [key, { ...row, open: true, ...more(row) }]))
  const fields = open(layout.fields as Readonly<Record<string, NestedField>>, ({ rows, struct }) => ({
    rows: open(rows, () => ({})),
    ...(struct !== undefined && { struct: opened(struct) }),
  }))
  const { name, bytes, spec } = layout
  const made = { name, bytes, spec, fields: fields as unknown as FieldMap }
  openedLayouts.set(layout, made)
  return made
}

/** Sets bits that no row declares. @throws TypeError or RangeError for any other bits. */
function encodeReserved(where: Where, layout: Layout, data: DataView, runs: unknown): void {
  const shown = shownIn(prepare(layout), data, 0)
  if (!Array.isArray(runs)) rejectValue(where, RESERVED_DOC, 'an array of { offset, bytes }', runs, 'array')
  for (const run of runs as (Partial<ReservedBytes> | null | undefined)[]) {
    const { offset, bytes } = run ?? {}
    if (!(bytes instanceof Uint8Array)) rejectValue(where, RESERVED_DOC, 'bytes (Uint8Array)', bytes, 'Uint8Array')
    if (!Number.isInteger(offset) || offset! < 0 || offset! + bytes.length > shown.length)
      rejectValue(where, RESERVED_DOC, `an offset and bytes within the ${shown.length} bytes of the structure`, offset)
    bytes.forEach((byte, i) => {
      const at = offset! + i
      if ((byte & shown[at]!) !== 0) {
        const got = `0x${byte.toString(16)} at byte ${at} (${where.spec})`
        throw new RangeError(`${where.name} (${RESERVED_DOC}): expected only ${RESERVED_DOC}, got ${got}`)
      }
      data.setUint8(at, data.getUint8(at) | byte)
    })
  }
}
