const LABEL_COLUMNS = 20

/** Formats 'label               value', under a title that begins at the left. */
export function labelled(label: string, value: string): string {
  return `  ${label.padEnd(LABEL_COLUMNS - 2)}${value}`
}
