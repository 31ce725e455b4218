import type { Run } from './run-plans.js'

/** Slower than that in its second half, and something has happened to the drive. */
const SLOWER = 0.9

/** Says so where a repeat was slower at its end than at its beginning: heat, or a cache that was full. */
export function paceRemark({ startNs, endNs, halves: [first, second] }: Run, seconds: number): string[] {
  const halfNs = seconds * 5e8
  const restNs = endNs - startNs - halfNs
  if (first === 0 || restNs <= 0) return []
  const pace = second / restNs / (first / halfNs)
  if (pace >= SLOWER) return []
  return [
    `A repeat of ${seconds} s was ${Math.round((1 - pace) * 100)} % slower in its second half than in its first: the drive held itself back for heat, or a cache was full. What it keeps up for long is less than its mean says.`,
  ]
}
