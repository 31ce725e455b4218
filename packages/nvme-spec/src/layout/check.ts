import { isBig } from './access.js'
import type { BitsMap, Field, Layout } from './rows.js'

/**
 * Checks a structure when its module is loaded.
 * @throws RangeError for rows that overlap, exceed the structure, or have named values that do not fit; TypeError for
 *   names that are not in upper case: declarations use other names for their own properties.
 */
export function checkLayout({ name, bytes, fields }: Layout): void {
  if (!Number.isInteger(bytes) || bytes < 1) throw new RangeError(`${name}: expected a length in bytes, got ${bytes}`)
  for (const key in fields) {
    const { elementBytes, rows } = fields[key]!
    checkRows(`${name}.${key}`, elementBytes * 8, rows)
  }
  checkRows(name, bytes * 8, fields)
}

/**
 * Checks the rows of a word or of a structure.
 * @throws RangeError for rows that overlap, exceed `widthBits`, or have named values that do not fit; TypeError for names
 *   that are not in upper case.
 */
export function checkRows(owner: string, widthBits: number, rows: BitsMap): void {
  const taken: number[] = []
  let end = 0
  for (const key in rows) {
    const row = rows[key]!
    const { msb, lsb, values } = row
    // Rows of a word have no offset of their own.
    const { offset = 0, lengthBytes = widthBits / 8 } = row as Partial<Field>
    const isField = 'offset' in row
    const fail = (problem: string): never => {
      throw new RangeError(`${owner}.${key}: bits ${msb}:${lsb}${isField ? ` of byte ${offset}` : ''} ${problem}`)
    }
    if (!/^[A-Z][A-Z0-9_]*$/.test(key))
      throw new TypeError(`${owner}.${key}: expected an upper-case name, as in the specification, got '${key}'`)
    const [first, last] = [offset * 8 + lsb, offset * 8 + msb]
    if (msb < lsb) fail('are in reverse order')
    const isWhole = Number.isInteger(offset) && Number.isInteger(lsb) && Number.isInteger(msb)
    if (!(isWhole && lsb >= 0 && msb < lengthBytes * 8 && first >= 0 && last < widthBits))
      fail(`do not fit ${widthBits} bits`)
    if (!isField && isBig(row) !== (row.wide ?? false)) fail(`need ${row.wide ? 'bits' : 'wideBits'}()`)
    // Rows are usually in ascending order; only an out-of-order row is compared with all others.
    if (first < end)
      for (let i = 0; i < taken.length; i += 2)
        if (first <= taken[i + 1]! && taken[i]! <= last) fail('overlap another row')
    taken.push(first, last)
    end = Math.max(end, last + 1)
    for (const name in values) {
      const value = values[name]!
      if (!Number.isInteger(value) || value < 0 || value >= 2 ** (msb - lsb + 1))
        throw new RangeError(`${owner}.${key}: ${name} = ${value} does not fit ${msb - lsb + 1} bits`)
    }
  }
}
