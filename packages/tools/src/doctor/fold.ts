import { printableLines } from '../terminal/printable.js'
import { wrap } from '../terminal/table.js'

/** Text after a prefix, in lines of at most `columns`; those after the first are indented as far as the prefix reaches. */
export function fold(prefix: string, text: string, columns: number): string[] {
  const indent = ' '.repeat(prefix.length)
  const [first = '', ...rest] = wrap(shown(text), Math.max(columns - prefix.length, 20), '')
  return [`${prefix}${first}`.trimEnd(), ...rest.map((line) => `${indent}${line}`)]
}

/** In one line, with nothing in it that could drive a terminal. */
export function shown(text: string): string {
  return printableLines(text).join(' ')
}
