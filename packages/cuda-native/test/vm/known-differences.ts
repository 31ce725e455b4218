import type { Mode } from './modes.js'

/** Result of a driver case in the guest: a line of cases.ts. */
export interface CaseLine {
  readonly id: string
  readonly outcome: 'passed' | 'skipped' | 'failed'
  readonly why?: string
  readonly ms?: number
}

/** A driver case that fails in the guest, and why the driver is not at fault. */
interface KnownDifference {
  readonly id: string
  /** Default: all modes. */
  readonly modes?: readonly Mode['name'][]
  readonly why: string
}

const KNOWN: readonly KnownDifference[] = []

/** Returns unexpected failures, and listed cases that did not fail. */
export function caseDifferences(mode: Mode, lines: readonly CaseLine[]): string[] {
  const ran = new Set(lines.map(({ id }) => id))
  const known = KNOWN.filter(({ id, modes }) => ran.has(id) && (modes?.includes(mode.name) ?? true))
  const failed = lines.filter(({ outcome }) => outcome === 'failed')
  const unknown = failed.filter(({ id }) => !known.some((each) => each.id === id))
  // Every case runs in at least one mode, so stale entries are detected.
  const stale = known.filter(({ id }) => !failed.some((each) => each.id === id))
  return [
    ...unknown.map(({ id, why }) => `${id} fails: ${why}`),
    ...stale.map(({ id, why }) => `${id} is a known difference (${why}), but did not fail: remove it from the list`),
  ]
}
