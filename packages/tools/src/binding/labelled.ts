import { wrap } from '../terminal/table.js'

const LABEL_COLUMNS = 11

/** Rows below a heading, 'label      value', values folded where the terminal ends. */
export function labelled(rows: readonly (readonly [label: string, value: string])[], columns: number): string[] {
  return rows.flatMap(([label, value]) => indented(value, columns, `  ${label.padEnd(LABEL_COLUMNS)}`))
}

/** Text after what stands before its first line; the others begin where that one does. */
export function indented(text: string, columns: number, before: string): string[] {
  const [first = '', ...others] = wrap(text, columns - before.length, '')
  return [`${before}${first}`, ...others.map((line) => `${' '.repeat(before.length)}${line}`)]
}
