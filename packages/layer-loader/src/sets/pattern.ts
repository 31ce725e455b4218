import { MAX_PATTERN_UNITS } from './format.js'

/**
 * Assigns the units of a stripe to members: member `m` gets `weights[m]` of every `sum` units, so evenly that after any
 * number of units each member's count is within one of its share. Of the pending units, the one with the earliest
 * deadline is next (Liu and Layland's earliest deadline first); ties go to the lower index.
 * @param weights integers above 0, with a sum of at most `MAX_PATTERN_UNITS`.
 */
export function patternOf(weights: readonly number[]): Uint8Array {
  const length = sumOf(weights)
  const given = weights.map(() => 0)
  return Uint8Array.from({ length }, (_, slot) => {
    let chosen = -1
    let earliest = Infinity
    for (const [member, weight] of weights.entries()) {
      const units = given[member]!
      // Its next unit must come after its release and before its deadline: the window of one proportional step.
      if (units === weight || Math.floor((units * length) / weight) > slot) continue
      const deadline = Math.ceil(((units + 1) * length) / weight)
      if (deadline >= earliest) continue
      chosen = member
      earliest = deadline
    }
    given[chosen]!++
    return chosen
  })
}

/** Returns whether a decoded pattern is valid: it has units of all members and of no other index. */
export function patternFits(pattern: Uint8Array, members: number): boolean {
  const seen = new Set(pattern)
  return seen.size === members && pattern.every((member) => member < members)
}

/** Returns the number of units of each member in a pattern. */
export function weightsOf(pattern: Uint8Array, members: number): number[] {
  const weights = new Array<number>(members).fill(0)
  for (const member of pattern) weights[member]!++
  return weights
}

/** A stripe with at least this share of the ideal speed is indistinguishable in measurements. */
const GOOD_ENOUGH = 0.99

/** More units would be more precise than a measurement. */
const ENOUGH_UNITS = 64

/**
 * Returns small integer weights for members of these rates, so that all take about the same time for their parts. The
 * pattern is as short as possible with negligible loss; each member gets at least one unit.
 * @param rates in any unit, above 0. @throws RangeError for others.
 */
export function wholeWeights(rates: readonly number[]): number[] {
  if (rates.length > MAX_PATTERN_UNITS || !rates.every((rate) => Number.isFinite(rate) && rate > 0)) {
    throw new RangeError(`weights: expected a number above 0 for each member, got [${rates.join(', ')}]`)
  }
  const total = sumOf(rates)
  let best: number[] = []
  let bestShare = 0
  for (let units = rates.length; units <= ENOUGH_UNITS; units++) {
    const weights = rates.map((rate) => Math.max(1, Math.round((units * rate) / total)))
    const slowest = weights.reduce((max, weight, member) => Math.max(max, weight / rates[member]!), 0)
    const share = sumOf(weights) / slowest / total
    if (share <= bestShare) continue
    best = weights
    bestShare = share
    if (share >= GOOD_ENOUGH) break
  }
  return best
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0)
}
