import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { format } from 'oxfmt'

const options = JSON.parse(readFileSync(join(import.meta.dirname, '../.oxfmtrc.json'), 'utf8'))

/** Formats generated text in the style of this repository. The extension of `name` selects the language. */
export async function formatText(name, text) {
  const { code, errors } = await format(name, text, options)
  if (errors.length > 0) throw new Error(`cannot format ${name}: ${errors[0].message}`)
  return code
}
