const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** Formats bytes for messages: '669.4 MiB'. */
export function humanBytes(bytes: number): string {
  const unit = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, bytes)) / 10)))
  const value = bytes / 1024 ** unit
  return `${Number.isInteger(value) ? value : value.toFixed(value < 10 ? 2 : 1)} ${UNITS[unit]}`
}
