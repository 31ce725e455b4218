import { rejectArgument } from '../layout/facts.js'

/** An event's times in whole nanoseconds, the unit of every clock of these packages. */
export interface WholeTimes {
  readonly startNs: number
  /** Undefined for an instant. */
  readonly durationNs: number | undefined
}

/**
 * Returns an event's times in whole nanoseconds. Start and end are rounded, not the duration, so that adjacent events
 * stay adjacent.
 * @throws RangeError or TypeError for a time that is not a number below 2^53, or a duration below 0.
 */
export function wholeTimes(timeNs: number, durationNs: number | undefined): WholeTimes {
  checkTime('timeNs', timeNs)
  const startNs = Math.round(timeNs)
  if (durationNs === undefined) return { startNs, durationNs }
  checkTime('durationNs', durationNs, 0)
  checkTime('timeNs + durationNs', timeNs + durationNs)
  return { startNs, durationNs: Math.round(timeNs + durationNs) - startNs }
}

const LIMIT_NS = Number.MAX_SAFE_INTEGER

/** Whether every format can represent `value` as a time. */
export function isTime(value: unknown, minNs = -LIMIT_NS): value is number {
  return typeof value === 'number' && value >= minNs && value <= LIMIT_NS
}

/** Rejects invalid times: JSON would write null. */
export function checkTime(what: string, value: number, minNs = -LIMIT_NS): void {
  if (!isTime(value, minNs)) rejectArgument(`trace event's ${what}`, `nanoseconds from ${minNs} to ${LIMIT_NS}`, value)
}

/**
 * Formats nanoseconds exactly in a unit 10 ^ `digits` times larger. Works on the digits, since a quotient near 2^53
 * would be rounded.
 */
export function decimal(ns: number, digits: number): string {
  const text = String(Math.abs(ns)).padStart(digits + 1, '0')
  return `${ns < 0 ? '-' : ''}${text.slice(0, -digits)}.${text.slice(-digits)}`
}

// Control characters, line breaks, direction changes, zero-width characters, and lone surrogates, which UTF-8 cannot
// encode. Ranges rather than \p{…}, whose members change with the engine's version of Unicode.
const unprintable =
  // oxlint-disable-next-line no-control-regex -- the pattern matches control characters
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

/** Returns facts as JSON, in their own order. Numbers that JSON cannot represent (NaN, Infinity) become strings. */
export function jsonFacts(facts: object): string {
  const pairs = Object.entries(facts).map(
    ([key, value]: [string, string | number]) => `${quoted(key)}:${jsonValue(value)}`,
  )
  return `{${pairs.join(',')}}`
}

function jsonValue(value: string | number): string {
  return Number.isFinite(value) ? String(value) : quoted(String(value))
}
