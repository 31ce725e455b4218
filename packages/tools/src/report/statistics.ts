import type { BenchRepeat } from './bench-results.js'

/** A mean with its 95 % confidence interval, mean - marginOfError to mean + marginOfError. */
export interface Estimate {
  readonly mean: number
  /** Half of the interval's width. Undefined for a single value, whose error is unknown. */
  readonly marginOfError: number | undefined
  readonly count: number
}

// Student's t, two-sided 95 %, by degrees of freedom from 1 (NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2).
const T_95 = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11,
  2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042,
]

/** Above the table, t approaches 1.96 as 1 / degrees: within 0.003 of the handbook's values. */
function studentT(degrees: number): number {
  return T_95[degrees - 1] ?? 1.96 + 2.4 / degrees
}

/** Undefined without values. */
export function estimate(values: readonly number[]): Estimate | undefined {
  const count = values.length
  if (count === 0) return undefined
  const mean = values.reduce((sum, value) => sum + value, 0) / count
  if (count === 1) return { mean, marginOfError: undefined, count }
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (count - 1)
  return { mean, marginOfError: studentT(count - 1) * Math.sqrt(variance / count), count }
}

/** Returns `a` / `b`; the margin combines both relative margins as independent. */
export function ratio(a: Estimate, b: Estimate): Estimate {
  const mean = a.mean / b.mean
  const count = Math.min(a.count, b.count)
  if (a.marginOfError === undefined || b.marginOfError === undefined) return { mean, marginOfError: undefined, count }
  return { mean, marginOfError: mean * Math.hypot(a.marginOfError / a.mean, b.marginOfError / b.mean), count }
}

/** Returns valid repeats, including outliers: a drive that stumbles has stumbled. */
export function counted(repeats: readonly BenchRepeat[]): readonly BenchRepeat[] {
  return repeats.filter(({ problem }) => problem === undefined)
}

export function bytesPerSecond(repeats: readonly BenchRepeat[]): Estimate | undefined {
  return estimate(counted(repeats).map(({ bytes, seconds }) => bytes / seconds))
}

export function commandsPerSecond(repeats: readonly BenchRepeat[]): Estimate | undefined {
  return estimate(counted(repeats).map(({ commands, seconds }) => commands / seconds))
}

/** CPU seconds per 10^9 bytes. Undefined if CPU time was not measured. */
export function cpuSecondsPerGigabyte(repeats: readonly BenchRepeat[]): Estimate | undefined {
  return estimate(
    counted(repeats).flatMap(({ cpuSeconds, bytes }) =>
      cpuSeconds === undefined || bytes === 0 ? [] : [(cpuSeconds / bytes) * 1e9],
    ),
  )
}
