import { printableLines } from '../../terminal/printable.js'
import { wrap } from '../../terminal/table.js'

/**
 * Returns text after a prefix, in lines of at most `columns`. Continuation lines are indented to the end of the prefix.
 */
export function fold(prefix: string, text: string, columns: number): string[] {
  const indent = ' '.repeat(prefix.length)
  const [first = '', ...rest] = wrap(shown(text), Math.max(columns - prefix.length, 20), '')
  return [`${prefix}${first}`.trimEnd(), ...rest.map((line) => `${indent}${line}`)]
}

/** Returns text as one line without control characters. */
export function shown(text: string): string {
  return printableLines(text).join(' ')
}
