// Control characters, what breaks lines or turns their direction, what has no width, and halves of surrogate pairs,
// which no UTF-8 file can hold. Ranges and not \p{…}, whose members change with the engine's version of Unicode.
const unprintable =
  // eslint-disable-next-line no-control-regex -- they are what is looked for
  /[\0-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** `text` on one line, with everything unprintable in it as JSON would escape it. */
export function visible(text: string): string {
  return text.replace(unprintable, (unit) => short[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** `text` as a JSON string of printable characters only, so that no tool takes a part of it for the end of a line. */
export function quoted(text: string): string {
  return visible(JSON.stringify(text))
}

/** A record of details as JSON, in its own order. What is no number to JSON (NaN, Infinity) is its text. */
export function jsonDetails(details: Readonly<Record<string, string | number>>): string {
  const pairs = Object.entries(details).map(([key, value]) => `${quoted(key)}:${jsonValue(value)}`)
  return `{${pairs.join(',')}}`
}

function jsonValue(value: string | number): string {
  return Number.isFinite(value) ? String(value) : quoted(String(value))
}
