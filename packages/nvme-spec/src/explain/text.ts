import type { ExplainedLine, FieldLocation } from './explain.js'

/** Maximum width of the value column. A longer value shifts only its own doc. */
const MAX_VALUE_COLUMNS = 44

/**
 * Formats a place as the specification numbers it, highest first: bytes `23:4` of a structure, and bits `[7:4]` of
 * these bytes.
 * @param within place of the containing line; its bytes are not repeated.
 */
export function formatLocation({ offset, lengthBytes, bits }: FieldLocation, within?: FieldLocation): string {
  const bytes = lengthBytes === 1 ? String(offset) : `${offset + lengthBytes - 1}:${offset}`
  if (bits === undefined) return bytes
  const range = `[${bits.msb === bits.lsb ? bits.msb : `${bits.msb}:${bits.lsb}`}]`
  return within?.offset === offset && within.lengthBytes === lengthBytes ? range : `${bytes} ${range}`
}

/** Formats a line without place and doc, with the last name of its path: `MDTS=8: 1 MiB at 4 KiB pages`. */
export function formatExplainedValue({ path, text, meaning }: ExplainedLine): string {
  const name = path.slice(path.lastIndexOf('.') + 1)
  const value = text === '' ? name : `${name}=${text}`
  return meaning === '' ? value : `${value}: ${meaning}`
}

/** Formats explained lines as text: location, value and doc in columns, each line indented below the one that contains it. */
export function formatExplained(lines: readonly ExplainedLine[]): string[] {
  // The last line at each depth: the containers of the current one.
  const above: ExplainedLine[] = []
  const rows = lines.map((line) => {
    const { depth, location, doc } = line
    above[depth] = line
    const value = `${'  '.repeat(depth)}${formatExplainedValue(line)}`
    return { location: formatLocation(location, above[depth - 1]?.location), value, doc }
  })
  const indent = widest(rows.map((row) => row.location))
  const values = widest(rows.map(({ value }) => value).filter(({ length }) => length <= MAX_VALUE_COLUMNS))
  return rows.map(({ location, value, doc }) =>
    `${location.padStart(indent)}  ${value.padEnd(values)}  ${doc}`.trimEnd(),
  )
}

function widest(texts: readonly string[]): number {
  return texts.reduce((width, { length }) => Math.max(width, length), 0)
}
