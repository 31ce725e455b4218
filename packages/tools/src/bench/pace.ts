import type { Run } from './run-plans.js'

/** A repeat has slowed down if its second half is slower by this factor. */
const SLOWER = 0.9
/** A plan counts in one half as a whole: with fewer plans, the halves are not comparable. */
const MIN_PLANS = 16

/** Returns the rate of the second half of a repeat relative to the first; undefined with too few plans. */
export function paceOf({ plans, startNs, endNs, halves: [first, second] }: Run, seconds: number): number | undefined {
  const halfNs = seconds * 5e8
  const restNs = endNs - startNs - halfNs
  return plans < MIN_PLANS || first === 0 || restNs <= 0 ? undefined : second / restNs / (first / halfNs)
}

/** Returns a remark if repeats slowed down. */
export function paceNotes(paces: readonly number[]): string[] {
  const slow = paces.filter((pace) => pace < SLOWER)
  if (slow.length === 0) return []
  const max = Math.round((1 - slow.reduce((min, each) => Math.min(min, each), Infinity)) * 100)
  return [
    `${slow.length} of ${paces.length} repeats were slower in their second half, by up to ${max} %: the drive throttled because of heat, a cache was full, or the machine was busy. The sustained rate may be below the means.`,
  ]
}
