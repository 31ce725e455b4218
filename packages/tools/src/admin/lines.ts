import { wrap } from '../terminal/table.js'

const LABEL_COLUMNS = 20

/** Formats 'label               value', under a title that begins at the left. */
export function labelled(label: string, value: string): string {
  return `  ${label.padEnd(LABEL_COLUMNS - 2)}${value}`
}

/** Additional indentation of continued lines. */
const HANGING = '    '

/**
 * Folds lines to the terminal's width between words; words longer than a line, such as hexadecimal digits, anywhere.
 */
export function fitted(lines: readonly string[], columns: number): string[] {
  if (columns === Infinity) return [...lines]
  return lines.flatMap((line) => {
    const text = line.trimStart()
    const indent = ' '.repeat(line.length - text.length)
    const room = Math.max(HANGING.length + 1, columns - indent.length)
    return wrap(text, room, HANGING)
      .flatMap((part) => cut(part, room))
      .map((part) => indent + part)
  })
}

function cut(line: string, columns: number): string[] {
  if (line.length <= columns) return [line]
  return [line.slice(0, columns), ...cut(HANGING + line.slice(columns), columns)]
}
