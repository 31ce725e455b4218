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
  const taken: { first: number; last: number }[] = []
  let end = 0
  for (const key in rows) {
    const row = rows[key]!
    const { msb, lsb, values } = row
    // Rows of a word have no place of their own. A part of a word is accessed by the whole word.
    const { offset = 0, lengthBytes = widthBits / 8 } = row as Partial<Field>
    const isField = 'offset' in row
    const [first, last, wordBits] = [offset * 8 + lsb, offset * 8 + msb, lengthBytes * 8]
    const where = `${owner}.${key}: `
    const place = `bits ${msb}:${lsb}${isField ? ` of byte ${offset}` : ''} `
    const fail = (problem: string, Kind = RangeError): never => {
      throw new Kind(where + problem)
    }
    if (!/^[A-Z][A-Z0-9_]*$/.test(key)) fail(`expected a name in upper case, got '${key}'`, TypeError)
    if (
      !(
        [offset, msb, lsb].every(Number.isInteger) &&
        lsb >= 0 &&
        lsb <= msb &&
        msb < wordBits &&
        first >= 0 &&
        offset * 8 + wordBits <= widthBits
      )
    )
      fail(`${place}do not fit ${widthBits} bits`)
    if (!isField && isBig(row) !== (row.wide ?? false)) fail(`${place}need ${row.wide ? 'bits' : 'wideBits'}()`)
    // Rows are usually in ascending order; only an out-of-order row is compared with all others.
    if (first < end && taken.some((other) => first <= other.last && other.first <= last))
      fail(`${place}overlap another row`)
    taken.push({ first, last })
    end = Math.max(end, last + 1)
    for (const name in values) {
      const value = values[name]!
      if (!(Number.isInteger(value) && value >= 0 && value < 2 ** (msb - lsb + 1)))
        fail(`${name} = ${value} does not fit ${msb - lsb + 1} bits`)
    }
  }
}
