import { wrap } from '../terminal/table.js'

const LABEL_COLUMNS = 11

/** Formats rows below a heading, 'label      value', folding values to the terminal's width. */
export function labelled(rows: readonly (readonly [label: string, value: string])[], columns: number): string[] {
  return rows.flatMap(([label, value]) => indented(value, columns, `  ${label.padEnd(LABEL_COLUMNS)}`))
}

/** Indents text by the width of what precedes its first line. */
export function indented(text: string, columns: number, before: string): string[] {
  const [first = '', ...others] = wrap(text, columns - before.length, '')
  return [`${before}${first}`, ...others.map((line) => `${' '.repeat(before.length)}${line}`)]
}
