const LABEL_COLUMNS = 11

/** Formats rows below a heading: 'label      value'. */
export function labelled(rows: readonly (readonly [label: string, value: string])[]): string[] {
  return rows.map(([label, value]) => `  ${label.padEnd(LABEL_COLUMNS)}${value}`)
}
