import type { Mode } from './modes.js'

/** How a driver case went in the guest: a line of cases.ts. */
export interface CaseLine {
  readonly id: string
  readonly outcome: 'passed' | 'skipped' | 'failed'
  readonly why?: string
  readonly ms?: number
}

/** A driver case that fails in the guest, and why that is no fault of the driver. */
interface KnownDifference {
  readonly id: string
  /** In all modes when not given. */
  readonly modes?: readonly Mode['name'][]
  readonly why: string
}

const KNOWN: readonly KnownDifference[] = []

/** What differs from what is known: cases that fail and should not, and entries of the list that have become stale. */
export function caseDifferences(mode: Mode, lines: readonly CaseLine[]): string[] {
  const ran = new Set(lines.map(({ id }) => id))
  const known = KNOWN.filter(({ id, modes }) => ran.has(id) && (modes?.includes(mode.name) ?? true))
  const failed = lines.filter(({ outcome }) => outcome === 'failed')
  const unknown = failed.filter(({ id }) => !known.some((each) => each.id === id))
  // Every case has its turn in one mode at least.
  const stale = known.filter(({ id }) => !failed.some((each) => each.id === id))
  return [
    ...unknown.map(({ id, why }) => `${id} fails: ${why}`),
    ...stale.map(({ id, why }) => `${id} is listed as known to fail (${why}), and does not: take it from the list`),
  ]
}
