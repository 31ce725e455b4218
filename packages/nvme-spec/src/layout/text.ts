// Structures as text.
import { viewOf, type Memory } from './facts.js'
import { prepare, textBytes, undeclared, type Entry } from './objects.js'
import type { Field, Layout } from './rows.js'
import { describeWord, formatOf } from './words.js'

/**
 * Returns one `NAME=value` per field that is not zero, then set bits that no row declares, as `reserved[byte]=hex`.
 * @throws RangeError if `memory` ends before the structure does.
 */
export function describeFields(layout: Layout, memory: Memory, byteOffset = 0): string[] {
  return formatFields(layout, memory, byteOffset).map(([name, text]) => `${name}=${text}`)
}

/**
 * Returns the name and the text of each field that is not zero, then of set bits that no row declares.
 * @param always for each field in order: whether to include it even if it is zero.
 * @throws RangeError if `memory` ends before the structure does.
 */
export function formatFields(
  layout: Layout,
  memory: Memory,
  byteOffset = 0,
  always: readonly boolean[] = [],
): [name: string, text: string][] {
  const data = viewOf(layout, memory, byteOffset)
  const struct = prepare(layout)
  const texts: [string, string][] = []
  struct.entries.forEach((entry, i) => {
    formatEntry(texts, entry, data, byteOffset, always[i] === true)
  })
  for (const run of undeclared(struct, data, byteOffset)) texts.push([`reserved[${run.offset}]`, hexBytes(run.bytes)])
  return texts
}

/** Adds the texts of a field. */
function formatEntry(
  texts: [string, string][],
  { key, field, get, hasRows, format, load }: Entry,
  data: DataView,
  base: number,
  always: boolean,
): void {
  const { offset, elementBytes, rows, struct, count } = field
  if (struct !== undefined) {
    for (let i = 0; i < count!; i++) {
      const inner = describeFields(struct, data, base + offset + i * elementBytes)
      if (inner.length > 0) texts.push([`${key}[${i}]`, `{ ${inner.join(' ')} }`])
    }
    return
  }
  const raw = get(data, base)
  if (typeof raw === 'number') {
    if (raw === 0 && !always) return
    if (hasRows) texts.push([key, `{ ${describeWord(raw, rows)} }`])
    else texts.push([key, format(Number.isSafeInteger(raw) ? raw : (load(data, base) as bigint))])
  } else if (always || !isUnset(field, data, base)) {
    if (!hasRows) texts.push([key, formatField(field, raw)])
    else
      (raw as Uint32Array).forEach((word, i) => {
        if (word !== 0) texts.push([`${key}[${i}]`, `{ ${describeWord(word, rows)} }`])
      })
  }
}

/** Returns whether all bytes of a field are zero, those behind the null of a text excepted. */
function isUnset(field: Field, data: DataView, base: number): boolean {
  const end = base + field.offset + textBytes(field, data, base)
  for (let at = base + field.offset; at < end; at++) if (data.getUint8(at) !== 0) return false
  return true
}

/** Formats a value of a field: by name if it has one, in hexadecimal if that is customary. */
export function formatField(row: Pick<Field, 'msb' | 'lsb' | 'values' | 'open' | 'hex'>, value: unknown): string {
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
  return formatOf(row)(value as number | bigint)
}

/** Returns bytes as hexadecimal digits. */
export function hexBytes(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
