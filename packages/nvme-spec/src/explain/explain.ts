// Explains structures and words line by line: place, value, meaning and doc of every field. Separate from `describe`,
// which traces and errors use, since it needs the docs of all declarations.
import { FABRICS_STATUS } from '../fabrics/status.js'
import { formatStatus } from '../status.js'
import { checkInteger, rejectArgument, viewOf } from '../layout/facts.js'
import {
  decodeFields,
  formatField,
  isPart,
  type BitsMap,
  type Field,
  type Layout,
  type Memory,
} from '../layout/index.js'
import type { NestedField } from '../layout/objects.js'
import { hexBytes } from '../layout/text.js'
import { loadBits, undeclaredIn } from '../layout/words.js'
import { formatInteger, meaningOf, type Row } from './meaning.js'
import type { FormatContext } from './quantity.js'

/** Location of a field or a bit row. */
export interface FieldLocation {
  /** Offset of the field, or of the word that contains it, from the start of the structure; 0 in a register. */
  readonly offset: number
  readonly lengthBytes: number
  /** Bits within these bytes; absent if all of them. */
  readonly bits?: { readonly msb: number; readonly lsb: number }
}

/** One explained field, bit row or element. */
export interface ExplainedLine {
  /** Path of names: `MDTS`, `OACS.FNVMS`, `PSD[0].MP`, `reserved`. */
  readonly path: string
  /** Nesting depth: the number of lines that contain this one. */
  readonly depth: number
  readonly location: FieldLocation
  /**
   * The decoded value; for a word with rows, its number. Undefined for an array: its elements have lines of their own.
   */
  readonly raw: number | bigint | string | Uint8Array | undefined
  /** The value as text: `8`, `0x1b36`, `"SN1"`; '' for an array. */
  readonly text: string
  /** Meaning of the value: `1 MiB at 4 KiB pages`, `supported`; '' if there is none beyond the value. */
  readonly meaning: string
  /** The doc of the declaration. */
  readonly doc: string
}

/** Properties of the controller that the explained bytes do not contain. */
export interface ExplainOptions {
  /** Memory page size in bytes, for values in pages: 2 ^ (12 + CAP.MPSMIN) or 2 ^ (12 + CC.MPS). Default: 4096. */
  readonly memoryPageBytes?: number
}

/** Declaration of a register or another word. */
export interface WordLayout {
  readonly name: string
  readonly widthBits: 32 | 64
  readonly doc: string
  readonly fields: BitsMap
}

/** State of a walk through a structure. */
interface Walk {
  readonly lines: ExplainedLine[]
  readonly data: DataView
  /** Offset in `data` of the outermost structure. */
  readonly start: number
  readonly memoryPageBytes: number
}

/**
 * Explains the structure or command at byteOffset: one line per field, bit row and array element. In arrays, zero
 * elements and zero rows are omitted. Bits that no row declares have a line only if set.
 * @throws RangeError if `memory` ends before the structure does; TypeError if `layout` is not a declaration.
 */
export function explain(
  layout: Layout,
  memory: Memory,
  byteOffset = 0,
  { memoryPageBytes = 4096 }: ExplainOptions = {},
): ExplainedLine[] {
  // Lookups such as `logStructure` return undefined for an unknown number.
  if (!(layout as Layout | undefined)?.fields) rejectArgument('layout', 'a declaration', layout)
  checkInteger('memoryPageBytes', memoryPageBytes, 1)
  const data = viewOf(layout, memory, byteOffset)
  const walk = { lines: [], data, start: byteOffset, memoryPageBytes }
  addFields(walk, layout, byteOffset, '', 0)
  return walk.lines
}

/**
 * Explains the value of a register or another word: a line for the word, then one per row. Bits that no row declares
 * have a line only if set.
 */
export function explainWord(
  word: WordLayout,
  raw: number | bigint,
  { memoryPageBytes = 4096 }: ExplainOptions = {},
): ExplainedLine[] {
  const { name, widthBits, doc, fields } = word
  const isWord = typeof raw === 'bigint' ? BigInt.asUintN(widthBits, raw) === raw : raw >>> 0 === raw
  checkInteger('memoryPageBytes', memoryPageBytes, 1)
  if (!isWord) throw new RangeError(`${name}: expected a word of ${widthBits} bits, got ${raw}`)
  const lengthBytes = widthBits / 8
  const walk = { lines: [], data: new DataView(new ArrayBuffer(lengthBytes)), start: 0, memoryPageBytes }
  const location = { offset: 0, lengthBytes }
  addWord(walk, { path: name, depth: 0, location, raw, doc }, fields, widthBits)
  return walk.lines
}

/** Adds lines for the fields of the structure at `base` of the data, and for its reserved bytes. */
function addFields(walk: Walk, layout: Layout, base: number, prefix: string, depth: number): void {
  const { reserved = [], ...values } = decodeFields(layout, walk.data, base) as Record<string, unknown> & {
    reserved?: readonly { offset: number; bytes: Uint8Array }[]
  }
  const nameOf = (name: string) => nameOfValue(layout.fields[name], values[name])
  const context = { nameOf, memoryPageBytes: walk.memoryPageBytes }
  for (const [name, field] of Object.entries(layout.fields as Readonly<Record<string, NestedField>>))
    addField(walk, field, values[name], context, base, { path: prefix + name, depth })
  for (const { offset, bytes } of reserved) {
    const location = { offset: base - walk.start + offset, lengthBytes: bytes.length }
    const doc = 'Bits that no field declares'
    walk.lines.push({ path: `${prefix}reserved`, depth, location, raw: bytes, text: hexBytes(bytes), meaning: '', doc })
  }
}

function addField(
  walk: Walk,
  field: NestedField,
  value: unknown,
  context: FormatContext,
  base: number,
  { path, depth }: Pick<ExplainedLine, 'path' | 'depth'>,
): void {
  const { lines } = walk
  const { kind, offset, lengthBytes, msb, lsb, doc, rows } = field
  const at = base - walk.start + offset
  const location = { offset: at, lengthBytes, ...(isPart(field) && { bits: { msb, lsb } }) }
  if (kind === 'structs' || kind === 'integers') {
    addElements(walk, field, value, context, base, { path, depth })
    return
  }
  if (Object.keys(rows).length > 0) {
    const raw = field.codec(field).get(walk.data, base) as number
    addWord(walk, { path, depth, location, raw, doc }, rows, msb - lsb + 1)
    return
  }
  if (typeof value === 'string')
    lines.push({ path, depth, location, raw: value, text: formatField(field, value), meaning: '', doc })
  else if (value instanceof Uint8Array)
    lines.push({ path, depth, location, raw: value, text: bytesText(field, value), meaning: ouiOf(field, value), doc })
  else {
    const raw = value as number | bigint
    const row: Row = { ...field, widthBits: msb - lsb + 1 }
    lines.push({
      path,
      depth,
      location,
      raw,
      text: formatInteger(row, raw),
      meaning: meaningOf(row, raw, context),
      doc,
    })
  }
}

/** Adds a line for an array, and lines for each element that is not zero. */
function addElements(
  walk: Walk,
  field: NestedField,
  values: unknown,
  context: FormatContext,
  base: number,
  { path, depth }: Pick<ExplainedLine, 'path' | 'depth'>,
): void {
  const { offset, lengthBytes, elementBytes, doc, rows, struct } = field
  const count = lengthBytes / elementBytes
  const hasRows = Object.keys(rows).length > 0
  const words = hasRows ? (field.codec(field).get(walk.data, base) as Uint32Array) : undefined
  const indexes = Array.from({ length: count }, (_, i) => i)
  const used = indexes.filter((i) => !isZero(walk.data, base + offset + i * elementBytes, elementBytes))
  const location = { offset: base - walk.start + offset, lengthBytes }
  const meaning = `${count} elements, ${used.length === 0 ? 'all zero' : `${used.length} not zero`}`
  walk.lines.push({ path, depth, location, raw: undefined, text: '', meaning, doc })
  for (const i of used) {
    const at = base + offset + i * elementBytes
    const element = {
      path: `${path}[${i}]`,
      depth: depth + 1,
      location: { offset: at - walk.start, lengthBytes: elementBytes },
    }
    if (struct !== undefined) {
      walk.lines.push({ ...element, raw: undefined, text: '', meaning: '', doc: struct.name })
      addFields(walk, struct, at, `${element.path}.`, depth + 2)
    } else if (words !== undefined) {
      addWord(walk, { ...element, raw: words[i]!, doc: '' }, rows, elementBytes * 8, true)
    } else {
      const raw = (values as ArrayLike<number | bigint>)[i]!
      const row: Row = { ...field, widthBits: elementBytes * 8 }
      walk.lines.push({
        ...element,
        raw,
        text: formatInteger(row, raw),
        meaning: meaningOf(row, raw, context),
        doc: '',
      })
    }
  }
}

/** Adds a line for a word and lines for its rows. */
function addWord(
  walk: Walk,
  line: Pick<ExplainedLine, 'path' | 'depth' | 'location' | 'doc'> & { readonly raw: number | bigint },
  rows: BitsMap,
  widthBits: number,
  withoutZero = false,
): void {
  const { path, depth, location, raw } = line
  const text = `0x${raw.toString(16).padStart(Math.ceil(widthBits / 4), '0')}`
  walk.lines.push({ ...line, text, meaning: meaningOfWord(rows, raw) })
  const nameOf = (name: string) =>
    rows[name] === undefined ? undefined : nameOfValue(rows[name], loadBits(raw, rows[name]))
  const context = { nameOf, memoryPageBytes: walk.memoryPageBytes }
  for (const [name, row] of Object.entries(rows)) {
    const { msb, lsb, doc } = row
    const value = loadBits(raw, row)
    if (withoutZero && Number(value) === 0) continue
    const shown: Row = { ...row, widthBits: msb - lsb + 1 }
    walk.lines.push({
      path: `${path}.${name}`,
      depth: depth + 1,
      location: bitsOf(location, msb, lsb),
      raw: value,
      text: formatInteger(shown, value),
      meaning: meaningOf(shown, value, context),
      doc,
    })
  }
  const rest = BigInt(undeclaredIn(raw, rows))
  if (rest === 0n) return
  walk.lines.push({
    path: `${path}.reserved`,
    depth: depth + 1,
    location: bitsOf(location, rest.toString(2).length - 1, (rest & -rest).toString(2).length - 1),
    raw: typeof raw === 'bigint' ? rest : Number(rest),
    text: `0x${rest.toString(16)}`,
    meaning: '',
    doc: 'Bits that no row declares',
  })
}

/** Returns the meaning of a word as a whole: the status of a completion, or a version. */
function meaningOfWord(rows: BitsMap, raw: number | bigint): string {
  const number = (name: string) => Number(loadBits(raw, rows[name]!))
  const has = (...names: string[]) => names.every((name) => Object.hasOwn(rows, name))
  if (has('SC', 'SCT', 'DNR', 'M')) {
    const status = { sct: number('SCT'), sc: number('SC'), dnr: number('DNR') === 1, more: number('M') === 1 }
    // Only responses of Fabrics have no Phase Tag. Their command specific statuses have the numbers of others.
    return formatStatus(status, has('P') ? undefined : FABRICS_STATUS)
  }
  if (has('MJR', 'MNR', 'TER')) return `${number('MJR')}.${number('MNR')}.${number('TER')}`
  return ''
}

function nameOfValue(row: Pick<Row, 'values'> | undefined, value: unknown): string | undefined {
  return row && Object.keys(row.values).find((name) => row.values[name] === Number(value))
}

/** Returns the place of bits of a word, which may itself be a part of its bytes. */
function bitsOf({ offset, lengthBytes, bits }: FieldLocation, msb: number, lsb: number): FieldLocation {
  const from = bits?.lsb ?? 0
  return { offset, lengthBytes, bits: { msb: msb + from, lsb: lsb + from } }
}

function isZero(data: DataView, at: number, lengthBytes: number): boolean {
  for (let i = 0; i < lengthBytes; i++) if (data.getUint8(at + i) !== 0) return false
  return true
}

/** Maximum bytes of unstructured data that are shown. */
const MAX_BYTES = 32

function bytesText(field: Field, bytes: Uint8Array): string {
  if (bytes.every((byte) => byte === 0)) return '0'
  return formatField(field, bytes.subarray(0, MAX_BYTES)) + (bytes.length > MAX_BYTES ? '…' : '')
}

/** Returns the value of an OUI, which is stored least significant byte first, unlike other identifiers in bytes. */
function ouiOf(field: Field, bytes: Uint8Array): string {
  const isOui = field.doc.includes('OUI') && bytes.some((byte) => byte !== 0)
  return isOui ? `0x${formatField(field, bytes.slice().reverse())}` : ''
}
