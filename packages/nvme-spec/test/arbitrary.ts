import fc from 'fast-check'
import type { Bits, BitsMap, Field, FieldMap, Layout, RowAccess } from '../src/layout/index.js'

/** Returns arbitrary valid values for some or all rows of a word. */
export function bitValues(rows: BitsMap): fc.Arbitrary<Partial<Record<string, number | bigint>>> {
  return fc.record(
    Object.fromEntries(
      Object.entries(rows).map(([name, { msb, lsb, values, open }]) => {
        const named = Object.values(values)
        if (named.length > 0 && !open) return [name, fc.constantFrom(...named)]
        const max = (1n << BigInt(msb - lsb + 1)) - 1n
        return [name, msb - lsb > 31 ? fc.bigInt(0n, max) : fc.integer({ min: 0, max: Number(max) })]
      }),
    ),
    { requiredKeys: [] },
  )
}

/** Returns arbitrary valid values for some or all integer fields of a structure. */
export function fieldValues(fields: FieldMap): fc.Arbitrary<Partial<Record<string, number>>> {
  return fc.record(
    Object.fromEntries(
      Object.entries(fields).map(([name, { values, open, msb, lsb }]) => {
        const named = Object.values(values)
        if (named.length > 0 && !open) return [name, fc.constantFrom(...named)]
        const width = msb - lsb + 1
        return [name, width > 32 ? fc.maxSafeNat() : fc.integer({ min: 0, max: 2 ** width - 1 })]
      }),
    ),
    { requiredKeys: [] },
  )
}

/**
 * Returns memory of a structure as a conforming device could write it: random bits, including reserved ones, but named
 * values in closed enumerations, and printable text.
 */
export function memoryOf(struct: Layout): fc.Arbitrary<DataView> {
  return fc.uint8Array({ minLength: struct.bytes, maxLength: struct.bytes }).map((bytes) => {
    const data = new DataView(bytes.slice().buffer)
    makeLegal(struct, data, 0)
    return data
  })
}

/** Returns the same bytes with text padded as the specification requires. */
export function legalTexts(struct: Layout, bytes: Uint8Array): DataView {
  const data = new DataView(bytes.slice().buffer)
  makeLegal(struct, data, 0, true)
  return data
}

/** Returns a raw word with named values in closed enumerations; all other bits are kept. */
export function legalWord(rows: BitsMap, raw: bigint): bigint {
  return Object.values(rows).reduce((word, row) => {
    const at = BigInt(row.lsb)
    const mask = ((1n << BigInt(row.msb - row.lsb + 1)) - 1n) << at
    const value = (word & mask) >> at
    return (word & ~mask) | (BigInt(legalValue(row, Number(value)) ?? value) << at)
  }, raw)
}

/** Returns a named value for a closed enumeration; undefined if the row allows any value. */
function legalValue({ values, open }: Pick<Bits, 'values'> & { open?: boolean }, value: number): number | undefined {
  const named = Object.values(values)
  return named.length === 0 || open ? undefined : named[value % named.length]
}

function makeLegal(struct: Layout, data: DataView, base: number, textsOnly = false): void {
  const where = { name: struct.name, spec: struct.spec }
  for (const field of Object.values(struct.fields) as (Field & { struct?: Layout; count?: number })[]) {
    const { kind, offset, lengthBytes, elementBytes, rows } = field
    const { get, set }: RowAccess = field.codec(field)
    if (kind === 'structs') {
      for (let i = 0; i < field.count!; i++) makeLegal(field.struct!, data, base + offset + i * elementBytes, textsOnly)
    } else if (kind === 'text' && textsOnly) {
      padWithSpaces(field, data, base)
    } else if (kind === 'text') {
      const length = (data.getUint8(base + offset) % (lengthBytes + 1)) - 1
      const text = Array.from({ length: Math.max(0, length) }, (_, i) =>
        String.fromCharCode(0x21 + (data.getUint8(base + offset + i) % 0x5e)),
      )
      set(data, base, text.join(''), where)
    } else if (textsOnly) {
      continue
    } else if (Object.keys(rows).length > 0) {
      for (let at = 0; at < lengthBytes; at += elementBytes) {
        for (let byte = elementBytes - 1, word = 0n; byte >= 0; byte--) {
          word = (word << 8n) | BigInt(data.getUint8(base + offset + at + byte))
          if (byte === 0) writeWord(data, base + offset + at, elementBytes, legalWord(rows, word))
        }
      }
    } else {
      const value = get(data, base)
      const legal = typeof value === 'number' ? legalValue(field, value) : undefined
      if (legal !== undefined) set(data, base, legal, where)
    }
  }
}

/** Replaces NULs at the end of a text by spaces; all other bytes are kept. */
function padWithSpaces({ nullTerminated, offset, lengthBytes }: Field, data: DataView, base: number): void {
  if (nullTerminated) return
  for (let at = base + offset + lengthBytes - 1; at >= base + offset; at--) {
    const byte = data.getUint8(at)
    if (byte !== 0 && byte !== 0x20) return
    data.setUint8(at, 0x20)
  }
}

function writeWord(data: DataView, at: number, lengthBytes: number, word: bigint): void {
  for (let byte = 0; byte < lengthBytes; byte++) data.setUint8(at + byte, Number((word >> BigInt(byte * 8)) & 0xffn))
}
