import type { Run } from './run-plans.js'

/** Slower than that in its second half, and something has happened meanwhile. */
const SLOWER = 0.9
/** A plan falls into one half as a whole: of fewer, halves say more of where they ended than of the drive. */
const LEAST_PLANS = 16

/** How fast the second half of a repeat was, in shares of its first; undefined where there was too little to tell. */
export function paceOf({ plans, startNs, endNs, halves: [first, second] }: Run, seconds: number): number | undefined {
  const halfNs = seconds * 5e8
  const restNs = endNs - startNs - halfNs
  return plans < LEAST_PLANS || first === 0 || restNs <= 0 ? undefined : second / restNs / (first / halfNs)
}

/** Says so where repeats were slower at their end than at their beginning. */
export function paceNotes(paces: readonly number[]): string[] {
  const slow = paces.filter((pace) => pace < SLOWER)
  if (slow.length === 0) return []
  const most = Math.round((1 - slow.reduce((least, each) => Math.min(least, each), Infinity)) * 100)
  return [
    `${slow.length} of ${paces.length} repeats were slower in their second half than in their first, by ${most} % at most: the drive held itself back for heat, a cache was full, or the machine had other work. What it keeps up for long may be less than the means say.`,
  ]
}
