const BINARY = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const
const DECIMAL = ['B/s', 'kB/s', 'MB/s', 'GB/s', 'TB/s'] as const

/** Sizes are binary, as for memory and files: '255 MiB'. */
export function formatBytes(bytes: number): string {
  return scaled(bytes, 1024, BINARY)
}

/** Rates are decimal, as for links: '3.49 GB/s'. */
export function formatRate(bytes: number, durationNs: number): string {
  return durationNs > 0 ? scaled((bytes / durationNs) * 1e9, 1000, DECIMAL) : '-'
}

/** '940 ns', '76.9 ms', '2.41 s', '3 min 20 s'. */
export function formatDuration(ns: number): string {
  const seconds = Math.round(ns / 1e9)
  if (seconds >= 100) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
  return scaled(ns, 1000, ['ns', 'µs', 'ms', 's'])
}

/**
 * Returns a value for rounding by its decimal digits: 3.485 is stored as a binary fraction below it, which `toFixed` and
 * `toPrecision` would round to 3.48.
 */
export function halfUp(value: number): number {
  return value * (1 + 4 * Number.EPSILON)
}

/** '1 command', '2 commands'. */
export function plural(count: number, noun: string, many = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : many}`
}

/**
 * Three significant digits in the largest unit in which the value is at least 1: '1000 KiB', '1.5 MiB', '3.49 GB/s'.
 */
function scaled(value: number, step: number, units: readonly string[]): string {
  let unit = 0
  while (unit < units.length - 1 && Math.round(value) >= step) {
    value /= step
    unit++
  }
  const text = value >= 100 ? value.toFixed(0) : String(Number(halfUp(value).toPrecision(3)))
  return `${text} ${units[unit]!}`
}

const SUFFIXES = new Map<string, number>([
  ['', 1],
  ['b', 1],
  ...['k', 'm', 'g', 't'].flatMap((letter, index): [string, number][] => [
    [`${letter}b`, 1000 ** (index + 1)],
    [`${letter}ib`, 1024 ** (index + 1)],
  ]),
])

/** Parses '512MiB', '16 GB', '4096'. Undefined for anything else, including the ambiguous '16G'. */
export function parseBytes(text: string): number | undefined {
  const [, digits, suffix] = /^(\d+(?:\.\d+)?)\s*([a-z]*)$/i.exec(text.trim()) ?? []
  const factor = suffix === undefined ? undefined : SUFFIXES.get(suffix.toLowerCase())
  if (digits === undefined || factor === undefined) return undefined
  const bytes = Number(digits) * factor
  return Number.isSafeInteger(bytes) ? bytes : undefined
}
