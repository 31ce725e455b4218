/** Bytes per second as text: '3.49 GB/s'. */
export const rate = (bytesPerSecond: number): string => `${(bytesPerSecond / 1e9).toFixed(2)} GB/s`

/** Bytes as text, in decimal units. */
export function size(bytes: number): string {
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(1)} GB`
  if (bytes >= 1e6) return `${(bytes / 1e6).toFixed(0)} MB`
  return `${(bytes / 1e3).toFixed(0)} kB`
}

/** Length of a command as text, in binary units: '128 KiB'. */
export const commandSize = (bytes: number): string =>
  bytes >= 2 ** 20 ? `${bytes / 2 ** 20} MiB` : `${bytes / 1024} KiB`

/** Nanoseconds as text. */
export function time(ns: number): string {
  if (ns >= 1e9) return `${(ns / 1e9).toFixed(2)} s`
  if (ns >= 1e8) return `${(ns / 1e6).toFixed(0)} ms`
  return `${(ns / 1e6).toFixed(2)} ms`
}
