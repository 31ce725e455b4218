// Writes the rows of words as C macros, with the lines of the check program that check them.
import { comment, constant, docOf, macro } from './names.mjs'

/**
 * @typedef {import('./items.mjs').BitsMap} BitsMap
 * @typedef {{ msb: number, lsb: number, doc: string, values: Readonly<Record<string, number>>, open?: boolean, zeroBased?: boolean }} Row
 * @typedef {object} Output the output so far
 * @property {string[]} header lines of the header
 * @property {string[]} words entries of the table of words in the check program
 * @property {string[]} calls statements of the check program's main
 * @property {string[]} functions functions of the check program
 * @property {(name: string, owner: string) => string} unique rejects a name that is already used
 */

/** Writes a macro and returns its name. The error for a duplicate name includes `parts`. */
export function define(
  /** @type {Output} */ out,
  /** @type {string[]} */ parts,
  /** @type {string} */ value,
  /** @type {string} */ doc = '',
) {
  const name = out.unique(macro(...parts), parts.join('.'))
  out.header.push(`#define ${name} ${value}${doc === '' ? '' : ` ${comment(doc)}`}`)
  return name
}

/** Writes a macro for a number, which the check program prints. */
export function defineNumber(
  /** @type {Output} */ out,
  /** @type {string[]} */ parts,
  /** @type {string} */ path,
  /** @type {number} */ value,
  doc = '',
) {
  const name = define(out, parts, constant(value), doc)
  out.words.push(`{"number", "${path}", 0, ${name}},`)
}

/**
 * Writes the SHIFT, the MASK and the named values of a row. Bit 0 of the row is bit `shift` of the word. `at` is a C
 * expression for the byte offset of the word, which the check program prints.
 */
export function defineRow(
  /** @type {Output} */ out,
  /** @type {string[]} */ parts,
  /** @type {string} */ path,
  /** @type {Row} */ row,
  /** @type {string} */ at = '0',
  shift = 0,
  widthBits = 32,
) {
  const prefix = macro(...parts)
  const mask = ((1n << BigInt(row.msb - row.lsb + 1)) - 1n) << BigInt(row.lsb + shift)
  define(out, [...parts, 'SHIFT'], String(row.lsb + shift), docOf(row))
  define(out, [...parts, 'MASK'], constant(mask, widthBits))
  out.words.push(`{"bits", "${path}", ${at}, GPUNVME_FIELD_PREP(${prefix}, ~0ULL)},`)
  for (const [name, value] of Object.entries(row.values)) {
    const valueName = define(out, [...parts, name], constant(value))
    out.words.push(`{"value", "${path}.${name}", ${at}, GPUNVME_FIELD_PREP(${prefix}, ${valueName})},`)
  }
}

/** Writes the rows of a word that is not in a structure. The check program prints it with known values. */
export function defineWord(
  /** @type {Output} */ out,
  /** @type {string[]} */ parts,
  /** @type {string} */ path,
  /** @type {{ fields: BitsMap, widthBits: number }} */ word,
) {
  for (const [name, row] of Object.entries(word.fields)) {
    defineRow(out, [...parts, name], `${path}.${name}`, row, '0', 0, word.widthBits)
  }
  const terms = Object.entries(word.fields).map(
    ([name, row]) => `GPUNVME_FIELD_PREP(${macro(...parts, name)}, ${knownValue([...parts, name], row)})`,
  )
  if (terms.length > 0) out.words.push(`{"word", "${path}", 0, ${terms.join(' | ')}},`)
}

/** Returns what the check program stores in a row: the last named value, or PATTERN if the row accepts any value. */
export function knownValue(
  /** @type {string[]} */ parts,
  /** @type {{ values: Readonly<Record<string, number>>, open?: boolean }} */ { values, open },
) {
  const last = Object.keys(values).at(-1)
  return last === undefined || open === true ? 'PATTERN' : macro(...parts, last)
}
