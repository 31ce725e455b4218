import { MOST_PATTERN_UNITS } from './format.js'

/**
 * Which member has which unit of a stripe, in turns: member `m` gets `weights[m]` of every `sum` units, spread so evenly
 * that after any number of units each has its part to within one. Of the units that a member is still to get, the one
 * that would be late first is next (Liu and Layland's earliest deadline first), the lower index of two.
 * @param weights whole numbers above 0, `MOST_PATTERN_UNITS` in all at most.
 */
export function patternOf(weights: readonly number[]): Uint8Array {
  const length = sumOf(weights)
  const given = weights.map(() => 0)
  return Uint8Array.from({ length }, (_, slot) => {
    let chosen = -1
    let earliest = Infinity
    for (const [member, weight] of weights.entries()) {
      const units = given[member]!
      // Its next unit may not come before its turn, nor after the next one's: the window of one proportional step.
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

/** Whether a pattern that was read is one: every member has a unit of it, and nobody else. */
export function patternFits(pattern: Uint8Array, members: number): boolean {
  const seen = new Set(pattern)
  return seen.size === members && pattern.every((member) => member < members)
}

/** How many units of a pattern each member has. */
export function weightsOf(pattern: Uint8Array, members: number): number[] {
  const weights = new Array<number>(members).fill(0)
  for (const member of pattern) weights[member]!++
  return weights
}

/** A stripe is as fast as these parts of the members' speed: as good as another for all that can be measured. */
const GOOD_ENOUGH = 0.99

/** Whole weights of more units than this fit no better than a measurement does. */
const ENOUGH_UNITS = 64

/**
 * Small whole weights for members of these rates, so that each takes as long for its part as the others for theirs. The
 * shortest pattern that wastes next to nothing; no member gets none.
 * @param rates in any unit, above 0. @throws RangeError for others.
 */
export function wholeWeights(rates: readonly number[]): number[] {
  if (rates.length > MOST_PATTERN_UNITS || !rates.every((rate) => Number.isFinite(rate) && rate > 0)) {
    throw new RangeError(`weights: expected a number above 0 for each member, got [${rates.join(', ')}]`)
  }
  const total = sumOf(rates)
  let best: number[] = []
  let bestShare = 0
  for (let units = rates.length; units <= ENOUGH_UNITS; units++) {
    const weights = rates.map((rate) => Math.max(1, Math.round((units * rate) / total)))
    const slowest = weights.reduce((most, weight, member) => Math.max(most, weight / rates[member]!), 0)
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
