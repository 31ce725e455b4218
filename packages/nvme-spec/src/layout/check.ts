import type { BitsMap, NamedValues } from './bits.js'
import type { Layout } from './codec.js'
import { declaredMask } from './undeclared.js'

/**
 * What a declaration has to be, found when its module loads instead of when it is used.
 * @throws RangeError for rows that overlap, leave the structure, or have named values that do not fit; TypeError for
 *   names that are not in upper case, as the specification's are: all others are taken by what declarations have beside
 *   their fields.
 */
export function checkLayout({ name, bytes, fields }: Layout): void {
  if (!Number.isInteger(bytes) || bytes < 1) throw new RangeError(`${name}: expected a length in bytes, got ${bytes}`)
  for (const [key, field] of Object.entries(fields)) {
    checkName(`${name}.${key}`, key)
    if (!(Number.isInteger(field.lengthBytes) && field.lengthBytes > 0))
      throw new RangeError(`${name}.${key}: expected a length in bytes, got ${field.lengthBytes}`)
    if (!Number.isInteger(field.offset))
      throw new RangeError(`${name}.${key}: expected a byte offset, got ${field.offset}`)
    checkRows(`${name}.${key}`, Math.min(field.elementBytes * 8, 32), field.rows)
    const { msb, lsb } = field.bits ?? { msb: field.lengthBytes * 8 - 1, lsb: 0 }
    checkValues(`${name}.${key}`, field.values, msb - lsb + 1)
  }
  declaredMask(name, bytes, fields)
}

/**
 * What the rows of one word have to be.
 * @throws RangeError for rows that overlap, leave the word, or have named values that do not fit; TypeError for names
 *   that are not in upper case.
 */
export function checkRows(owner: string, widthBits: number, rows: BitsMap): void {
  let taken = 0n
  for (const [name, { msb, lsb, values }] of Object.entries(rows)) {
    checkName(`${owner}.${name}`, name)
    checkValues(`${owner}.${name}`, values, msb - lsb + 1)
    if (!Number.isInteger(lsb) || !Number.isInteger(msb) || lsb < 0 || msb >= widthBits)
      throw new RangeError(`${owner}.${name}: bit ${msb} is outside ${widthBits} bits`)
    const mask = ((1n << BigInt(msb - lsb + 1)) - 1n) << BigInt(lsb)
    if ((taken & mask) !== 0n) throw new RangeError(`${owner}.${name}: bits ${msb}:${lsb} overlap another row`)
    taken |= mask
  }
}

function checkName(where: string, key: string): void {
  if (!/^[A-Z][A-Z0-9_]*$/.test(key))
    throw new TypeError(`${where}: expected a name in upper case, as the specification has it, got '${key}'`)
}

function checkValues(where: string, values: NamedValues, widthBits: number): void {
  for (const [name, value] of Object.entries(values)) {
    if (!Number.isInteger(value) || value < 0 || value >= 2 ** widthBits)
      throw new RangeError(`${where}: ${name} = ${value} does not fit ${widthBits} bits`)
  }
}
