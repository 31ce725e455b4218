export interface Column {
  readonly title: string
  /** For numbers. Default: left. */
  readonly align?: 'right'
  /** Minimum width, for rows that are printed before later ones are known. */
  readonly width?: number
}

/** Formats rows below their titles, with two blanks between columns and none at the end. */
export function formatTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string[] {
  const fitted = columns.map((column, index) => ({
    ...column,
    width: rows.reduce((widest, row) => Math.max(widest, row[index]?.length ?? 0), column.title.length),
  }))
  return [formatTitles(fitted), ...rows.map((row) => formatRow(fitted, row))]
}

/** Returns the width of rows whose cells are not wider than their columns. */
export function widthOf(columns: readonly Column[]): number {
  return columns.reduce((sum, { width = 0 }) => sum + width + 2, -2)
}

export function formatTitles(columns: readonly Column[]): string {
  return formatRow(
    columns,
    columns.map(({ title }) => title),
  )
}

export function formatRow(columns: readonly Column[], row: readonly string[]): string {
  const cells = columns.map(({ align, width = 0 }, index) => {
    const cell = row[index] ?? ''
    return align === 'right' ? cell.padStart(width) : cell.padEnd(width)
  })
  return cells.join('  ').trimEnd()
}

/** Truncates text to `columns`; truncated text ends with '…'. */
export function cut(text: string, columns: number): string {
  return text.length <= columns ? text : `${text.slice(0, columns - 1)}…`
}

/** Folds text to lines of at most `columns`; lines after the first are indented. */
export function wrap(text: string, columns: number, indent: string): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line)
      line = `${indent}${word}`
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
