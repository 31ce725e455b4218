// Control characters, line breaks, direction changes, zero-width characters, and lone surrogates, which UTF-8 cannot
// encode. Ranges rather than \p{…}, whose members change with the engine's version of Unicode.
const unprintable =
  // eslint-disable-next-line no-control-regex -- they are what is looked for
  /[\0-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

const short: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** Returns `text` on one line, with unprintable characters escaped as in JSON. */
export function visible(text: string): string {
  return text.replace(unprintable, (unit) => short[unit] ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Returns `text` as a JSON string of printable characters only, so that no tool finds a line break in it. */
export function quoted(text: string): string {
  return visible(JSON.stringify(text))
}

/** Returns details as JSON, in their own order. Numbers that JSON cannot represent (NaN, Infinity) become strings. */
export function jsonDetails(details: Readonly<Record<string, string | number>>): string {
  const pairs = Object.entries(details).map(([key, value]) => `${quoted(key)}:${jsonValue(value)}`)
  return `{${pairs.join(',')}}`
}

function jsonValue(value: string | number): string {
  return Number.isFinite(value) ? String(value) : quoted(String(value))
}
