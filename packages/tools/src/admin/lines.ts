import { columnsOf } from '../terminal/output.js'
import { wrap } from '../terminal/table.js'

const LABEL_COLUMNS = 20

/** 'label               value', under a title that begins at the left. */
export function labelled(label: string, value: string): string {
  return `  ${label.padEnd(LABEL_COLUMNS - 2)}${value}`
}

/** Lines that fit the terminal: folded between words, and words that no line holds, as hexadecimal digits, anywhere. */
export function fitted(lines: readonly string[], columns = columnsOf(process.stdout)): string[] {
  if (columns === Infinity) return [...lines]
  return lines.flatMap((line) => {
    const [indent = ''] = /^ */.exec(line) ?? []
    const inner = `${indent}    `
    return wrap(line, columns, inner).flatMap((part) => cut(part, columns, inner))
  })
}

function cut(line: string, columns: number, indent: string): string[] {
  if (line.length <= columns) return [line]
  const room = Math.max(1, columns - indent.length)
  const rest = line.slice(columns)
  return [
    line.slice(0, columns),
    ...Array.from({ length: Math.ceil(rest.length / room) }, (_, i) => indent + rest.slice(i * room, (i + 1) * room)),
  ]
}
