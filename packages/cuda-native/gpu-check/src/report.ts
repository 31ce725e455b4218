import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs'
import type { CudaStatus } from '@gpunvme/cuda-native'
import type { Facts } from './check.js'
import type { Machine } from './machine.js'

export const SCHEMA = 'gpunvme-gpu-check'
/** Goes up when what stands in a report changes its meaning. */
export const SCHEMA_VERSION = 1

/** How a check ended. `error`: nobody knows whether it holds, as it ended by itself or took too long. */
export type Verdict = 'passed' | 'failed' | 'not-applicable' | 'error'

/** The reason of a check that has begun, which stays where the process ends in the middle of it. */
export const UNDER_WAY = 'the process ended while it ran'

export interface CheckResult {
  readonly id: string
  readonly title: string
  readonly verdict: Verdict
  /** What did not hold, or why nobody knows; absent where it passed. */
  readonly reason?: string
  readonly facts: Facts
  readonly durationMs: number
}

/** A number that was measured, with all that is needed to read it. */
export interface Figure {
  /** Stable, as `engine-commands-per-second`. */
  readonly name: string
  readonly value: number
  /** As `commands/s`, `cycles`, `transactions`. */
  readonly unit: string
  /** What it is a quantity of: `one 4 KiB read`, `one poll that finds nothing`. */
  readonly per: string
  /** Under which it was measured, as `queue depth`. */
  readonly conditions: Facts
}

/** What was found on a machine. Everything in it is plain JSON. */
export interface Report {
  readonly schema: typeof SCHEMA
  readonly version: number
  readonly startedAt: string
  /** null while it is under way, and for ever where the process ended before the last check did. */
  readonly endedAt: string | null
  /** `unfinished` until the last check has ended; `no-gpu` where there is none: `cuda` says why. */
  readonly outcome: 'passed' | 'failed' | 'unfinished' | 'no-gpu'
  /** What ended it before its time; absent otherwise. */
  readonly ended?: string
  readonly machine: Machine
  readonly packages: Readonly<Record<string, string>>
  /** SHA-256 of the kernels' texts. */
  readonly kernels: Readonly<Record<string, string>>
  readonly cuda: CudaStatus
  readonly checks: readonly CheckResult[]
  readonly figures: readonly Figure[]
}

/** Replaces the report at once: whoever reads it finds a whole one, whatever happens to this process. */
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
