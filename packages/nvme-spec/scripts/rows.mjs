// Rows of a word as macros of C, and the lines of the check program that go with them.
import { comment, constant, docOf, macro } from './names.mjs'

/**
 * @typedef {import('./items.mjs').BitsMap} BitsMap
 * @typedef {{ msb: number, lsb: number, doc: string, values: Readonly<Record<string, number>>, open?: boolean, zeroBased?: boolean }} Row
 * @typedef {object} Output what is written so far
 * @property {string[]} header lines of the header
 * @property {string[]} words entries of the table of words in the check program
 * @property {string[]} calls statements of the check program's main
 * @property {string[]} functions functions of the check program
 * @property {(name: string, owner: string) => string} unique refuses a name that is taken
 */

/** A macro, and where it came from if it should collide. */
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

/** A number that has a name of its own, which the check program prints. */
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
 * The SHIFT and the MASK of a row, and its named values. The row's word is `shift` bits above where the row counts
 * from; `at` is the C expression of the byte offset at which the check program says that the word stands.
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

/** The rows of a word which is no part of a structure, and that word with a known value in every row. */
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

/** What the check program stores in a row: the last of the values where only those that have names may be stored. */
export function knownValue(
  /** @type {string[]} */ parts,
  /** @type {{ values: Readonly<Record<string, number>>, open?: boolean }} */ { values, open },
) {
  const last = Object.keys(values).at(-1)
  return last === undefined || open === true ? 'PATTERN' : macro(...parts, last)
}
