// Structures as plain objects and as text. Kept apart from the declarations, so that programs that use only cursors do
// not bundle it.
import { checkBits, decodeBits, encodeBits, formatBits, nameIn } from './bits.js'
import { checkUnsigned, type Field } from './field.js'
import { checkNames, isPlain, needBytes } from './placed.js'
import { refuse, type SpecRef, type Where } from './spec-ref.js'
import type { Decoded, FieldMap } from './struct.js'
import { declaredMask, gapsIn, undeclaredRuns, writeUndeclared, type Gap, type ReservedBytes } from './undeclared.js'

/** Fields at offsets: a command, or a structure. */
export interface Layout {
  /** The specification's name, with which errors begin. */
  readonly name: string
  readonly bytes: number
  readonly spec: SpecRef
  readonly fields: FieldMap
}

/** A field that is an array of structures; it carries their declaration. */
type NestedField = Field & { readonly struct?: Layout; readonly count?: number }

/**
 * Decodes the structure at byteOffset to a plain object. It is complete: words with rows are objects of their rows, and
 * set bits that no row declares are in `reserved`.
 * @throws RangeError if `data` ends before the structure does.
 */
export function decodeFields<F extends FieldMap>(
  layout: Layout & { readonly fields: F },
  data: DataView,
  byteOffset = 0,
): Decoded<F> {
  const { name, bytes, spec } = layout
  needBytes(name, bytes, spec, data, byteOffset)
  // Storing values in a copy of the fields is several times faster than adding their names to an empty object.
  const values: Record<string, unknown> = { ...layout.fields }
  for (const { key, load } of preparedLayout(layout).rows) values[key] = load(data, byteOffset)
  const reserved = undeclared(layout, data, byteOffset)
  if (reserved.length > 0) values['reserved'] = reserved
  return values as Decoded<F>
}

/** Strictness of encoding. */
export interface EncodeOptions {
  /**
   * Also stores values of enumerations that the specification reserves, as written by a device of a later revision, and
   * unprintable text. Otherwise they are rejected.
   */
  readonly asFound?: boolean
}

/**
 * Writes a whole structure at byteOffset from the result of `decodeFields`, or a part of it; the rest is zero.
 * @throws TypeError or RangeError for a value that does not fit, naming the field; nothing is written then.
 */
export function encodeFields(
  layout: Layout,
  data: DataView,
  byteOffset: number,
  values: unknown,
  options: EncodeOptions = {},
): void {
  const asFound = (options as EncodeOptions | null)?.asFound ?? false
  const { name, bytes, spec, fields } = layout
  needBytes(name, bytes, spec, data, byteOffset)
  const { reserved, ...given } = (values ?? {}) as { reserved?: unknown }
  checkNames(layout, fields, isPlain(values) ? given : values)
  const fresh = new DataView(new ArrayBuffer(bytes))
  for (const [key, value] of Object.entries(given))
    encodeField({ name: `${name}.${key}`, spec }, fields[key]!, fresh, value, asFound)
  if (reserved !== undefined)
    writeUndeclared({ name: `${name}.reserved`, spec }, declaredIn(layout, fresh), fresh, reserved)
  new Uint8Array(data.buffer, data.byteOffset + byteOffset, bytes).set(new Uint8Array(fresh.buffer))
}

/**
 * Returns one `NAME=value` per field that is not zero, then set bits that no row declares, as `reserved[byte]=hex`.
 * @param always whether a field is shown even if it is zero.
 * @throws RangeError if `data` ends before the structure does.
 */
export function describeFields(
  layout: Layout,
  data: DataView,
  byteOffset = 0,
  always: (key: string, field: Field) => boolean = () => false,
): string[] {
  const { name, bytes, spec } = layout
  needBytes(name, bytes, spec, data, byteOffset)
  const lines: string[] = []
  for (const { key, field } of preparedLayout(layout).rows)
    if (!isZero(field, data, byteOffset) || always(key, field)) describeField(lines, key, field, data, byteOffset)
  for (const run of undeclared(layout, data, byteOffset)) lines.push(`reserved[${run.offset}]=${hexBytes(run.bytes)}`)
  return lines
}

/** Set bits that no field shows: not in any row, or after the null that ends a text. */
function undeclared(layout: Layout, data: DataView, byteOffset: number): ReservedBytes[] {
  const { gaps, texts } = preparedLayout(layout)
  if (texts.length === 0) return undeclaredRuns(gaps, data, byteOffset)
  const tails = texts.flatMap((field) => {
    const from = field.offset + textBytes(field, data, byteOffset)
    return Array.from({ length: field.offset + field.lengthBytes - from }, (_, i) => ({ offset: from + i, free: 0xff }))
  })
  const places = [...gaps, ...tails].sort((a, b) => a.offset - b.offset)
  return undeclaredRuns(places, data, byteOffset)
}

/** Returns the bits that belong to fields, as a byte mask; bytes after the null of a text belong to none. */
function declaredIn({ name, bytes, fields }: Layout, data: DataView): Uint8Array {
  const mask = declaredMask(name, bytes, fields)
  for (const field of Object.values(fields))
    if (field.nullEnded) mask.fill(0, field.offset + textBytes(field, data, 0) + 1, field.offset + field.lengthBytes)
  return mask
}

/** Returns how many bytes of a field its value occupies: all, or for null-terminated text those before the null. */
function textBytes({ nullEnded, offset, lengthBytes }: Field, data: DataView, base: number): number {
  if (!nullEnded) return lengthBytes
  let length = 0
  while (length < lengthBytes && data.getUint8(base + offset + length) !== 0) length++
  return length
}

type Load = (data: DataView, base: number) => unknown

/** What decoding a structure needs of its fields. */
interface PreparedLayout {
  readonly rows: readonly { readonly key: string; readonly field: NestedField; readonly load: Load }[]
  /** Bytes with bits that no row declares. */
  readonly gaps: readonly Gap[]
  readonly texts: readonly Field[]
}

const prepared = new WeakMap<Layout, PreparedLayout>()

/** Computed once for each decoded structure. */
function preparedLayout(layout: Layout): PreparedLayout {
  const known = prepared.get(layout)
  if (known !== undefined) return known
  const { name, bytes, fields } = layout
  const made = {
    rows: Object.entries<NestedField>(fields).map(([key, field]) => ({ key, field, load: loadOf(field) })),
    gaps: gapsIn(declaredMask(name, bytes, fields)),
    texts: Object.values(fields).filter(({ nullEnded }) => nullEnded),
  }
  prepared.set(layout, made)
  return made
}

/** Formats a value of a field: by name if it has one, in hexadecimal if that is customary. */
export function formatField(field: Omit<Field, 'get' | 'set' | 'setWords'>, value: unknown): string {
  if (typeof value === 'string') {
    // A device may contain anything: unprintable characters must not reach a terminal.
    return JSON.stringify(value).replace(
      /[^\x20-\x7e]/g,
      (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
    )
  }
  if (value instanceof Uint8Array) return hexBytes(value)
  if (ArrayBuffer.isView(value))
    return Array.from(value as unknown as ArrayLike<number | bigint>, (word) => `0x${word.toString(16)}`).join(',')
  const number = value as number | bigint
  if (hasAny(field.values)) return nameIn(field, Number(number))
  if (field.hex) {
    const { msb, lsb } = field.bits ?? { msb: field.lengthBytes * 8 - 1, lsb: 0 }
    return `0x${number.toString(16).padStart((msb - lsb + 1) / 4, '0')}`
  }
  // Addresses and LBAs; a declared bigint is a counter or a capacity.
  return field.lengthBytes === 8 && field.hex === undefined ? `0x${number.toString(16)}` : String(number)
}

/** Returns how a field is decoded: words with rows as objects. */
function loadOf(field: NestedField): Load {
  const { rows } = field
  if (!hasAny(rows)) return rawLoadOf(field)
  return field.kind === 'integers'
    ? (data, base) => Array.from(field.get(data, base) as Uint32Array, (raw) => decodeBits(raw, rows))
    : (data, base) => decodeBits(field.get(data, base) as number, rows)
}

/** Returns how a field is decoded, but words with rows as they are. */
function rawLoadOf({ kind, offset, lengthBytes, elementBytes, struct, count, get }: NestedField): Load {
  if (kind === 'structs')
    return (data, base) =>
      Array.from({ length: count! }, (_, i) => decodeFields(struct!, data, base + offset + i * elementBytes))
  if (kind === 'bytes') return (data, base) => (get(data, base) as Uint8Array).slice()
  if (lengthBytes !== 8) return get
  return (data, base) => {
    const value = get(data, base)
    const inexact = typeof value === 'number' && !Number.isSafeInteger(value)
    return inexact ? data.getBigUint64(base + offset, true) : value
  }
}

function encodeField(where: Where, field: NestedField, data: DataView, value: unknown, asFound: boolean): void {
  const { kind, doc, offset, lengthBytes, elementBytes, struct, count, values, open } = field
  if (kind === 'structs') {
    if (!Array.isArray(value)) refuse(where, doc, `an array of at most ${count!} structures`, value, 'array')
    if (value.length > count!)
      throw new RangeError(
        `${where.name} (${doc}): expected at most ${count!} structures, got ${value.length} (${where.spec})`,
      )
    // Only the needed parts: copying the whole declaration would create the handles of all its fields.
    const { bytes, spec, fields } = struct!
    value.forEach((item: object, i) => {
      const at = { name: `${where.name}[${i}]`, bytes, spec, fields }
      encodeFields(at, data, offset + i * elementBytes, item, { asFound })
    })
  } else if (kind === 'integer' && lengthBytes === 8 && typeof value === 'bigint') {
    checkUnsigned(where, doc, 64, value)
    data.setBigUint64(offset, value, true)
  } else if (asFound && kind === 'text' && isLatin1(value) && value.length <= lengthBytes) {
    for (let i = 0; i < lengthBytes; i++)
      data.setUint8(offset + i, i < value.length ? value.charCodeAt(i) : field.nullEnded ? 0 : 0x20)
  } else if (asFound && !open && Object.keys(values).length > 0) {
    storeAsFound(where, field, data, value)
  } else {
    field.set(data, 0, hasAny(field.rows) ? rawOf(where, field, value, asFound) : value, where)
  }
}

function isLatin1(value: unknown): value is string {
  return typeof value === 'string' && /^[\0-\xff]*$/.test(value)
}

/** Stores a value of an enumeration even if it has no name. */
function storeAsFound(where: Where, { bits, doc, offset, lengthBytes }: Field, data: DataView, value: unknown): void {
  const { msb, lsb } = bits ?? { msb: lengthBytes * 8 - 1, lsb: 0 }
  checkBits(where, { msb, lsb, doc, values: {} }, value)
  for (let byte = lsb >>> 3; byte <= msb >>> 3; byte++) {
    const part = Math.floor(((value as number) * 2 ** lsb) / 2 ** (byte * 8)) & 0xff
    data.setUint8(offset + byte, data.getUint8(offset + byte) | part)
  }
}

/** Returns a word, or an array of words, from numbers or from objects of their rows. */
function rawOf(where: Where, { doc, elementBytes, rows }: Field, value: unknown, asFound: boolean): unknown {
  const word = (given: unknown, at: Where) =>
    typeof given === 'object' && given !== null
      ? Number(encodeBits(at, elementBytes * 8, rows, given, 0n, asFound))
      : (given as number)
  if (Array.isArray(value)) {
    return Uint32Array.from(value, (given, i) => {
      const at = { ...where, name: `${where.name}[${i}]` }
      const raw = word(given, at)
      checkBits(at, { msb: elementBytes * 8 - 1, lsb: 0, doc, values: {} }, raw)
      return raw
    })
  }
  return ArrayBuffer.isView(value) ? value : word(value, where)
}

/** Adds the lines of a field. */
function describeField(lines: string[], key: string, field: NestedField, data: DataView, base: number): void {
  const { kind, offset, elementBytes, rows, struct, count } = field
  if (kind === 'structs') {
    for (let i = 0; i < count!; i++) {
      const inner = describeFields(struct!, data, base + offset + i * elementBytes)
      if (inner.length > 0) lines.push(`${key}[${i}]={ ${inner.join(' ')} }`)
    }
    return
  }
  const value = rawLoadOf(field)(data, base)
  if (!hasAny(rows)) lines.push(`${key}=${formatField(field, value)}`)
  else if (kind === 'integer') lines.push(`${key}={ ${formatBits(value as number, rows)} }`)
  else
    for (const [i, raw] of (value as Uint32Array).entries())
      if (raw !== 0) lines.push(`${key}[${i}]={ ${formatBits(raw, rows)} }`)
}

/** Whether a field is unset: judged by its bytes, whatever they mean. */
function isZero(field: Field, data: DataView, base: number): boolean {
  const { offset, get } = field
  const value = get(data, base)
  if (typeof value === 'number') return value === 0
  const end = base + offset + textBytes(field, data, base)
  for (let at = base + offset; at < end; at++) if (data.getUint8(at) !== 0) return false
  return true
}

function hasAny(named: object): boolean {
  for (const _ in named) return true
  return false
}

function hexBytes(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
