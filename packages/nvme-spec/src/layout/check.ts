import type { BitsMap, NamedValues } from './bits.js'
import type { Layout } from './codec.js'
import type { FieldMap } from './struct.js'

/**
 * Checks a declaration when its module loads, not when it is used.
 * @throws RangeError for rows that overlap, exceed the structure, or have named values that do not fit; TypeError for
 *   names that are not in upper case, as other names are taken by properties of declarations.
 */
export function checkLayout({ name, bytes, fields }: Layout): void {
  if (!Number.isInteger(bytes) || bytes < 1) throw new RangeError(`${name}: expected a length in bytes, got ${bytes}`)
  for (const key in fields) {
    const { offset, lengthBytes, elementBytes, rows, bits, values } = fields[key]!
    const owner = `${name}.${key}`
    checkName(owner, key)
    if (!(Number.isInteger(lengthBytes) && lengthBytes > 0))
      throw new RangeError(`${owner}: expected a length in bytes, got ${lengthBytes}`)
    if (!Number.isInteger(offset)) throw new RangeError(`${owner}: expected a byte offset, got ${offset}`)
    checkRows(owner, Math.min(elementBytes * 8, 32), rows)
    checkValues(owner, values, bits ? bits.msb - bits.lsb + 1 : lengthBytes * 8)
  }
  checkPlaces(name, bytes, fields)
}

/** Rejects rows that overlap or exceed the structure. */
export function checkPlaces(name: string, bytes: number, fields: FieldMap): void {
  const taken: number[] = []
  for (const key in fields) {
    const { offset, lengthBytes, bits } = fields[key]!
    if (offset < 0 || offset + lengthBytes > bytes)
      throw new RangeError(`${name}.${key}: bytes ${offset + lengthBytes - 1}:${offset} are outside ${bytes} bytes`)
    const first = offset * 8 + (bits?.lsb ?? 0)
    const last = offset * 8 + (bits?.msb ?? lengthBytes * 8 - 1)
    for (let i = 0; i < taken.length; i += 2)
      if (first <= taken[i + 1]! && taken[i]! <= last)
        throw new RangeError(`${name}.${key}: overlaps another row at byte ${offset}`)
    taken.push(first, last)
  }
}

/**
 * Checks the rows of one word.
 * @throws RangeError for rows that overlap, exceed the word, or have named values that do not fit; TypeError for names
 *   that are not in upper case.
 */
export function checkRows(owner: string, widthBits: number, rows: BitsMap): void {
  const taken: boolean[] = []
  for (const name in rows) {
    const { msb, lsb, values } = rows[name]!
    const path = `${owner}.${name}`
    checkName(path, name)
    checkValues(path, values, msb - lsb + 1)
    if (!Number.isInteger(msb) || !Number.isInteger(lsb) || lsb < 0 || msb >= widthBits)
      throw new RangeError(`${path}: bit ${msb} is outside ${widthBits} bits`)
    for (let at = lsb; at <= msb; at++) {
      if (taken[at]) throw new RangeError(`${path}: bits ${msb}:${lsb} overlap another row`)
      taken[at] = true
    }
  }
}

function checkName(where: string, key: string): void {
  if (!/^[A-Z][A-Z0-9_]*$/.test(key))
    throw new TypeError(`${where}: expected a name in upper case, as the specification has it, got '${key}'`)
}

function checkValues(where: string, values: NamedValues, widthBits: number): void {
  for (const name in values) {
    const value = values[name]!
    if (!Number.isInteger(value) || value < 0 || value >= 2 ** widthBits)
      throw new RangeError(`${where}: ${name} = ${value} does not fit ${widthBits} bits`)
  }
}
