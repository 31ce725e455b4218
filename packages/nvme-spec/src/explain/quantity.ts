// Quantities by the units that the docs state; test/units.test.ts checks the docs. A second table of units could
// contradict them.
import { formatBytes, formatDuration, formatNumber } from './units.js'

/** Context of a field, on which its quantity may depend. */
export interface FormatContext {
  /** Returns the name of the value of a field in the same structure or word; undefined if it has none. */
  readonly nameOf: (field: string) => string | undefined
  /** Memory page size in bytes, for fields that count pages. */
  readonly memoryPageBytes: number
}

/** A unit: its factor to a base unit, and the format of amounts in that base unit. */
interface Unit {
  readonly factor: number
  readonly format: (amount: number, context: FormatContext) => string
}

const NS = 1e9
const bytes: Unit['format'] = (amount) => formatBytes(amount)
const duration: Unit['format'] = (amount) => formatDuration(amount)
const pages: Unit['format'] = (amount, { memoryPageBytes }) =>
  `${formatBytes(amount * memoryPageBytes)} at ${formatBytes(memoryPageBytes)} pages`
const words =
  (one: string, many = `${one}s`): Unit['format'] =>
  (amount) =>
    `${formatNumber(amount)} ${amount === 1 ? one : many}`

/** Units by their word in docs and in names of enumerated scales. */
const units: Readonly<Record<string, Unit>> = {
  ns: { factor: 1, format: duration },
  us: { factor: 1e3, format: duration },
  microseconds: { factor: 1e3, format: duration },
  ms: { factor: 1e6, format: duration },
  milliseconds: { factor: 1e6, format: duration },
  s: { factor: NS, format: duration },
  seconds: { factor: NS, format: duration },
  minutes: { factor: 60 * NS, format: duration },
  hours: { factor: 3600 * NS, format: duration },
  days: { factor: 86_400 * NS, format: duration },
  bytes: { factor: 1, format: bytes },
  dwords: { factor: 4, format: bytes },
  kib: { factor: 2 ** 10, format: bytes },
  mib: { factor: 2 ** 20, format: bytes },
  gib: { factor: 2 ** 30, format: bytes },
  'memory pages': { factor: 1, format: pages },
  'pages of cap.mpsmin': { factor: 1, format: pages },
  'logical blocks': { factor: 1, format: words('logical block') },
  commands: { factor: 1, format: words('command') },
  completions: { factor: 1, format: words('completion') },
  lanes: { factor: 1, format: words('lane') },
  bits: { factor: 1, format: words('bit') },
  'per minute': { factor: 1, format: (amount) => `${formatNumber(amount)} per minute` },
  percent: { factor: 1, format: (amount) => `${formatNumber(amount)} %` },
  watts: { factor: 1, format: (amount) => `${formatNumber(amount)} W` },
  mw: { factor: 1e-3, format: (amount) => `${formatNumber(amount)} W` },
  uw: { factor: 1e-6, format: (amount) => `${formatNumber(amount)} W` },
  // Like nvme-cli and smartctl, which take 0 °C as 273 K instead of 273.15 K.
  kelvins: { factor: 1, format: (amount) => `${amount - 273} °C` },
}

/** `128 * 2 ^ n bytes`, `2 ^ (12 + MPSMIN) bytes`, `10 ^ -n watts`; not the sizes in a bitmap. */
const POWER =
  /(?<!bit n for )\b(?:(\d+) \* )?(\d+) \^ (-)?(?:n|\((\d+) \+ \w+\)) (bytes|commands|pages of CAP\.MPSMIN|watts)/
/** `in units of 100 ms`, `in 500 ms units`, `in 1,000,000,000 bytes`, `units of 1,000 * 512 bytes`. */
const MULTIPLE = /\b(?:in|of) ([\d,]+)(?: \* ([\d,]+))? (ns|microseconds|ms|KiB|bytes)\b/
const FRACTION = /\bin 1\/([\d,]+)/
/** `in SZU`, `in units of MXPS`, `in CMBSWTU per second`: the unit is the named value of another field. */
const BY_FIELD = /\b(?:in|units of) ([A-Z][A-Z\d]+)( per second)?$/
const PLAIN =
  /(?:\bin |[,:] |^|Power [Oo]n |Rotational Speed )((?:micro|milli)?seconds|minutes|hours|days|bytes|dwords|kelvins|percent|memory pages|logical blocks|completions|lanes|bits|per minute)\b(?! \d)/i
const NAMED = /^(UW|MW|US|MS|S|MINUTES|BYTES|KIB|MIB|GIB)(?:_(\d+))?$/

/**
 * Returns a value in the unit that its doc states, as text: `1 MiB at 4 KiB pages`. Undefined if the doc states no unit,
 * or refers to a field whose value names no unit.
 * @param value the number on the wire; for a 0's based field, the count.
 */
export function quantityOf(doc: string, value: number, context: FormatContext): string | undefined {
  const text = doc.split(';')[0]!
  const power = POWER.exec(text)
  if (power !== null) {
    const [, times = '1', base = '', minus = '', plus = '0', unit = ''] = power
    const exponent = value + Number(plus)
    const amount = Number(times) * Number(base) ** (minus === '-' ? -exponent : exponent)
    return units[unit.toLowerCase()]!.format(amount, context)
  }
  // Zero needs no unit; in most fields it means that nothing is reported.
  if (value === 0) return undefined
  const [, parts] = FRACTION.exec(text) ?? []
  if (parts !== undefined) return `${formatNumber((value / integer(parts)) * 100)} %`
  const multiple = MULTIPLE.exec(text)
  if (multiple !== null) {
    const [, many = '', times = '1', unit = ''] = multiple
    return inUnit(value * integer(many) * integer(times), unit, context)
  }
  const [, field, perSecond = ''] = BY_FIELD.exec(text) ?? []
  if (field !== undefined) {
    const [, unit, many = '1'] = NAMED.exec(context.nameOf(field) ?? '') ?? []
    return unit && inUnit(value * Number(many), unit, context) + perSecond
  }
  const [, unit] = PLAIN.exec(text) ?? []
  if (unit === undefined) return undefined
  // Temperature differences are the same in kelvins and in degrees Celsius.
  if (unit === 'kelvins' && /hysteresis|relative/i.test(text)) return `${value} K`
  return inUnit(value, unit, context) + (text.includes('since 1970') ? ` (${dateOf(value)})` : '')
}

/** Formats milliseconds since 1970 as a date; 'not a date' if out of range. */
function dateOf(milliseconds: number): string {
  // The largest time that a Date holds (ECMA-262 §21.4.1.1).
  return milliseconds <= 8.64e15 ? new Date(milliseconds).toISOString() : 'not a date'
}

function inUnit(amount: number, unit: string, context: FormatContext): string {
  const { factor, format } = units[unit.toLowerCase()]!
  return format(amount * factor, context)
}

function integer(digits: string): number {
  return Number(digits.replaceAll(',', ''))
}
