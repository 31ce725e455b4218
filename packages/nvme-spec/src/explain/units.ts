const BINARY = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB']
const DECIMAL = ['bytes', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB', 'ZB', 'YB']
/** Whole amounts below this are shown in a binary unit, larger ones rounded in a decimal unit: 8192 MiB. */
const MAX_WHOLE = 10_000

/** Formats a number with at most four significant digits; integers in full. */
export function formatNumber(value: number): string {
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(4)))
}

/** Formats bytes: exactly in a binary unit if that is short (`64 KiB`), otherwise rounded in a decimal unit (`1.00 TB`). */
export function formatBytes(bytes: number): string {
  let amount = bytes
  let unit = 0
  while (amount >= 1024 && amount % 1024 === 0 && unit < BINARY.length - 1) {
    amount /= 1024
    unit++
  }
  if (unit === 0 && amount === 1) return '1 byte'
  if (amount < MAX_WHOLE) return `${amount} ${BINARY[unit]!}`
  const power = Math.min(Math.floor(Math.log10(bytes) / 3), DECIMAL.length - 1)
  return `${(bytes / 1000 ** power).toPrecision(3)} ${DECIMAL[power]!}`
}

/** Formats nanoseconds in a unit that gives a short number: `100 ms`, `2.5 s`, `44 min`, `500 days`. */
export function formatDuration(ns: number): string {
  const steps: readonly (readonly [number, string, number])[] = [
    [1, 'ns', 1e3],
    [1e3, 'µs', 1e6],
    [1e6, 'ms', 1e9],
    [1e9, 's', 120e9],
    [60e9, 'min', 120 * 60e9],
    [3600e9, 'h', 48 * 3600e9],
    [86_400e9, 'days', Infinity],
  ]
  const [size, unit] = steps.find(([, , end]) => ns < end)!
  return `${formatNumber(ns / size)} ${unit}`
}
