import { halfUp } from '../terminal/units.js'
import type { Estimate } from './statistics.js'

/** Measured quantities, with units from small to large. */
const UNITS = {
  /** Bytes per second. */
  rate: [
    [1, 'B/s'],
    [1e3, 'kB/s'],
    [1e6, 'MB/s'],
    [1e9, 'GB/s'],
    [1e12, 'TB/s'],
  ],
  /** Commands per second. */
  iops: [
    [1, 'IOPS'],
    [1e3, 'kIOPS'],
    [1e6, 'MIOPS'],
  ],
  /** CPU seconds per 10^9 bytes. */
  cpu: [
    [1e-9, 'ns/GB'],
    [1e-6, 'µs/GB'],
    [1e-3, 'ms/GB'],
    [1, 's/GB'],
  ],
  /** Nanoseconds. */
  time: [
    [1, 'ns'],
    [1e3, 'µs'],
    [1e6, 'ms'],
    [1e9, 's'],
  ],
  /** A number without a unit. */
  times: [[1, '']],
} as const satisfies Record<string, readonly (readonly [number, string])[]>

export type Quantity = keyof typeof UNITS

export interface Unit {
  readonly factor: number
  readonly name: string
}

/** Returns the largest unit in which `value` is at least 1 after rounding. */
export function unitOf(quantity: Quantity, value: number): Unit {
  const units = UNITS[quantity].map(([factor, name]) => ({ factor, name }))
  return units.findLast(({ factor }) => Number((value / factor).toPrecision(3)) >= 1) ?? units[0]!
}

/** '3.49 GB/s', '27.1 kIOPS', '183 µs'. */
export function formatQuantity(quantity: Quantity, value: number): string {
  const { factor, name } = unitOf(quantity, value)
  return joined(fixed(value / factor), name)
}

/**
 * Formats '3.49 ± 0.02 GB/s', '3.472 ± 0.005 GB/s'; without a margin if there is none.
 * @param beside the highest of the compared values, which determines the common unit unless a value is far below it.
 */
export function formatEstimate(quantity: Quantity, { mean, marginOfError }: Estimate, beside = mean): string {
  const common = unitOf(quantity, beside)
  const { factor, name } = mean / common.factor >= 0.1 ? common : unitOf(quantity, mean)
  if (marginOfError === undefined) return joined(fixed(mean / factor), name)
  const value = halfUp(mean / factor)
  const margin = marginOfError / factor
  if (value >= TOO_LONG || margin >= TOO_LONG)
    return joined(`${value.toExponential(2)} ± ${margin.toExponential(2)}`, name)
  const digits = decimals(value)
  const shown = [0, 1, 2]
    .map((more) => digits + more)
    .find((count) => margin === 0 || Number(margin.toFixed(count)) > 0)
  if (shown === undefined) return joined(`${value.toFixed(digits)} ± < ${(10 ** -digits).toFixed(digits)}`, name)
  return joined(`${value.toFixed(shown)} ± ${margin.toFixed(shown)}`, name)
}

/** '97 %', '0.3 %', 'over 999 %'. */
export function formatShare(share: number): string {
  const percent = share * 100
  if (percent > 999) return 'over 999 %'
  if (percent > 0 && percent < 0.1) return 'under 0.1 %'
  return `${percent >= 10 || percent === 0 ? percent.toFixed(0) : percent.toPrecision(1)} %`
}

/** Formats the duration of a run: '0.5 s', '29 min 1 s', '2 h 3 min'. */
export function formatSeconds(seconds: number): string {
  const whole = Math.round(seconds)
  if (whole >= 7200) return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`
  if (whole >= 100) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  return `${Number(seconds.toPrecision(3))} s`
}

/** Formats a count for an axis: '32', '65536', '1.05e6'. */
export function formatCount(count: number): string {
  return count < 1e6 ? String(count) : count.toExponential(2).replace('e+', 'e')
}

function joined(text: string, unit: string): string {
  return unit === '' ? text : `${text} ${unit}`
}

/** Decimals that give three significant digits. */
function decimals(value: number): number {
  return value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2
}

/** Values from here on are written with an exponent. */
const TOO_LONG = 1e6

function fixed(value: number): string {
  return value >= TOO_LONG ? value.toExponential(2) : halfUp(value).toFixed(decimals(value))
}
