import { hasAny, isBig } from './access.js'
import type { Bits, BitsMap, Field, Layout } from './rows.js'

/** A row of a word, or of a structure, where it also has a place. */
type Row = Bits & Partial<Pick<Field, 'offset' | 'lengthBytes'>>

/**
 * Checks a structure when its module is loaded.
 * @throws RangeError for rows that overlap, exceed the structure, or have named values that do not fit; TypeError for
 *   names that are not in upper case: declarations use other names for their own properties.
 */
export function checkLayout({ name, bytes, fields }: Layout): void {
  if (!Number.isInteger(bytes) || bytes < 1) throw new RangeError(`${name}: expected a length in bytes, got ${bytes}`)
  for (const key in fields) {
    const { elementBytes, rows } = fields[key]!
    if (hasAny(rows)) checkRows(`${name}.${key}`, elementBytes * 8, rows)
  }
  checkRows(name, bytes * 8, fields)
}

/**
 * Checks the rows of a word or of a structure. An import checks thousands of rows, so valid rows in order allocate nothing.
 * @throws RangeError for rows that overlap, exceed `widthBits`, or have named values that do not fit; TypeError for names
 *   that are not in upper case.
 */
export function checkRows(owner: string, widthBits: number, rows: BitsMap): void {
  let end = 0
  for (const key in rows) {
    const row: Row = rows[key]!
    const { msb, lsb, values } = row
    // Rows of a word have no offset. A part of a word is accessed through the entire word.
    const { offset = 0, lengthBytes = widthBits / 8 } = row
    const isInside = isCount(offset) && isCount(msb) && isCount(lsb) && lsb <= msb && msb < lengthBytes * 8
    let problem: string | undefined
    if (!isInside || (offset + lengthBytes) * 8 > widthBits) problem = `do not fit ${widthBits} bits`
    else if (row.offset === undefined && isBig(row) !== (row.wide ?? false))
      problem = `need ${row.wide ? 'bits' : 'wideBits'}()`
    // Rows are usually in ascending order; only an out-of-order row is compared with all others.
    else if (offset * 8 + lsb < end && overlapsAny(rows, row)) problem = 'overlap another row'
    if (problem !== undefined) {
      const place = row.offset === undefined ? '' : ` of byte ${offset}`
      throw new RangeError(`${owner}.${key}: bits ${msb}:${lsb}${place} ${problem}`)
    }
    if (key !== key.toUpperCase()) throw new TypeError(`${owner}.${key}: expected a name in upper case, got '${key}'`)
    for (const name in values) {
      const value = values[name]!
      if (!(Number.isInteger(value) && value >= 0 && value < 2 ** (msb - lsb + 1)))
        throw new RangeError(`${owner}.${key}: ${name} = ${value} does not fit ${msb - lsb + 1} bits`)
    }
    end = Math.max(end, offset * 8 + msb + 1)
  }
}

/** Returns whether a number is an integer from 0 to 2^32 - 1. */
const isCount = (value: number): boolean => value >>> 0 === value

/** Returns whether a row has a bit of another row. */
function overlapsAny(rows: BitsMap, row: Row): boolean {
  const { offset = 0, msb, lsb } = row
  return Object.values(rows).some((other: Row) => {
    const distance = ((other.offset ?? 0) - offset) * 8
    return other !== row && lsb <= distance + other.msb && distance + other.lsb <= msb
  })
}
