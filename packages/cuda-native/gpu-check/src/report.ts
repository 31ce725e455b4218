import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs'
import type { CudaStatus } from '@gpunvme/cuda-native'
import type { Facts } from './check.js'
import type { Machine } from './machine.js'

export const SCHEMA = 'gpunvme-gpu-check'
/** Incremented when the meaning of a field in the report changes. */
export const SCHEMA_VERSION = 1

/** How a check ended. `error`: inconclusive, because the check threw an error or exceeded its time limit. */
export type Verdict = 'passed' | 'failed' | 'not-applicable' | 'error'

/** Reason of a check that has started. It remains in the report if the process ends during the check. */
export const UNDER_WAY = 'the process ended during the check'

export interface CheckResult {
  readonly id: string
  readonly title: string
  readonly verdict: Verdict
  /** Why the check failed, was inconclusive or did not run; absent if it passed. */
  readonly reason?: string
  readonly facts: Facts
  readonly durationMs: number
}

/** A measured value, with everything needed to interpret it. */
export interface Figure {
  /** Stable, such as `engine-commands-per-second`. */
  readonly name: string
  readonly value: number
  /** Such as `commands/s`, `cycles`, `transactions`. */
  readonly unit: string
  /** What was measured: `one 4 KiB read`, `one empty poll`. */
  readonly per: string
  /** Conditions of the measurement, such as the queue depth. */
  readonly conditions: Facts
}

/** Results of the checks on a machine, as plain JSON. */
export interface Report {
  readonly schema: typeof SCHEMA
  readonly version: number
  readonly startedAt: string
  /** null until the last check has ended. */
  readonly endedAt: string | null
  /** `unfinished` until the last check has ended; `no-gpu` if no GPU is usable, with the cause in `cuda`. */
  readonly outcome: 'passed' | 'failed' | 'unfinished' | 'no-gpu'
  /** Why the run ended early; absent otherwise. */
  readonly ended?: string
  readonly machine: Machine
  readonly packages: Readonly<Record<string, string>>
  /** SHA-256 of each PTX file. */
  readonly kernels: Readonly<Record<string, string>>
  readonly cuda: CudaStatus
  readonly checks: readonly CheckResult[]
  readonly figures: readonly Figure[]
}

/** Replaces the report atomically: readers always find a complete one, even if this process crashes. */
export function writeReport(path: string, report: Report): void {
  const next = `${path}.next`
  const fd = openSync(next, 'w')
  try {
    writeSync(fd, `${JSON.stringify(report, null, 2)}\n`)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
  renameSync(next, path)
}

/** Returns the quotient, rounded to three decimal places. */
export function ratio(a: number, b: number): number {
  return Math.round((1000 * a) / b) / 1000
}
