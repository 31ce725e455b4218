import { isBig } from './access.js'
import type { Layout } from './objects.js'
import type { BitsMap, Field } from './rows.js'

/**
 * Checks a structure when its module loads, not when it is used.
 * @throws RangeError for rows that overlap, exceed the structure, or have named values that do not fit; TypeError for
 *   names that are not in upper case, as other names are taken by properties of declarations.
 */
export function checkLayout({ name, bytes, fields }: Layout): void {
  if (!Number.isInteger(bytes) || bytes < 1) throw new RangeError(`${name}: expected a length in bytes, got ${bytes}`)
  for (const [key, { elementBytes, rows }] of Object.entries(fields))
    checkRows(`${name}.${key}`, elementBytes * 8, rows)
  checkRows(name, bytes * 8, fields)
}

/**
 * Checks the rows of a word or of a structure.
 * @throws RangeError for rows that overlap, exceed `widthBits`, or have named values that do not fit; TypeError for names
 *   that are not in upper case.
 */
export function checkRows(owner: string, widthBits: number, rows: BitsMap): void {
  const taken: [first: number, last: number][] = []
  for (const [key, row] of Object.entries(rows)) {
    const path = `${owner}.${key}`
    if (!/^[A-Z][A-Z0-9_]*$/.test(key))
      throw new TypeError(`${path}: expected a name in upper case, as the specification has it, got '${key}'`)
    const { msb, lsb, values } = row
    // Rows of a word have no offset of their own.
    const { offset = 0, lengthBytes } = row as Partial<Field>
    const place = `bits ${msb}:${lsb}${lengthBytes === undefined ? '' : ` of byte ${offset}`}`
    const [first, last] = [offset * 8 + lsb, offset * 8 + msb]
    const inWord = lsb >= 0 && msb >= lsb && (lengthBytes === undefined || msb < lengthBytes * 8)
    if (!([offset, msb, lsb].every(Number.isInteger) && inWord && first >= 0 && last < widthBits))
      throw new RangeError(`${path}: ${place} do not fit ${widthBits} bits`)
    if (lengthBytes === undefined && isBig(row) !== (row.wide ?? false))
      throw new RangeError(`${path}: declare ${place} by ${row.wide ? 'bits' : 'wideBits'}()`)
    if (taken.some((other) => first <= other[1] && other[0] <= last))
      throw new RangeError(`${path}: ${place} overlap another row`)
    taken.push([first, last])
    for (const [name, value] of Object.entries(values))
      if (!Number.isInteger(value) || value < 0 || value >= 2 ** (msb - lsb + 1))
        throw new RangeError(`${path}: ${name} = ${value} does not fit ${msb - lsb + 1} bits`)
  }
}
