// Arithmetic of a comparison of two builds: turns the figures of alternating rounds into ratios and their spread.

/**
 * @typedef {{ name: string, value: number, unit: string, goal?: string, met?: boolean, note?: string }} Figure
 * @typedef {{ ours: Figure[], theirs: Figure[] }} Round
 * @typedef {{ median: number, min: number, max: number }} Spread
 * @typedef {'same' | 'better' | 'worse' | 'differs' | 'no ratio'} Verdict
 * @typedef {{ name: string, unit: string, ours: number, theirs: number, ratio: Spread | undefined, verdict: Verdict }} Compared
 */

/** @type {(values: readonly number[]) => number} Of an even number of values, the mean of the middle two. */
export function medianOf(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2
}

/** @type {(ours: number, theirs: number) => number} NaN unless the values are equal or both positive. */
export function ratioOf(ours, theirs) {
  if (ours === theirs) return 1
  return ours > 0 && theirs > 0 ? ours / theirs : NaN
}

/** @type {(values: readonly number[]) => Spread | undefined} */
export function spreadOf(values) {
  if (values.length === 0 || values.some((value) => !Number.isFinite(value))) return undefined
  return { median: medianOf(values), min: Math.min(...values), max: Math.max(...values) }
}

/** @type {(figure: Pick<Figure, 'unit' | 'goal'>) => 'lower' | 'higher' | undefined} The direction of an improvement; undefined if unknown. */
export function betterDirection({ unit, goal = '' }) {
  if (/[≤<]/.test(goal)) return 'lower'
  if (/[≥>]/.test(goal) || /\/s$|real time/.test(unit)) return 'higher'
  return unit === '×' || unit === '' ? undefined : 'lower'
}

/** @type {(ratio: Spread | undefined, direction: 'lower' | 'higher' | undefined) => Verdict} */
export function judge(ratio, direction) {
  if (ratio === undefined) return 'no ratio'
  if (ratio.min <= 1 && ratio.max >= 1) return 'same'
  if (direction === undefined) return 'differs'
  return ratio.median < 1 === (direction === 'lower') ? 'better' : 'worse'
}

/**
 * Pairs the figures of each round by name; figures that share a name are paired by their order.
 * @type {(rounds: readonly Round[]) => { figures: Compared[], onlyOurs: string[], onlyTheirs: string[] }}
 */
export function compareRounds(rounds) {
  const ours = rounds.map((round) => byKey(round.ours))
  const theirs = rounds.map((round) => byKey(round.theirs))
  const inAll = (/** @type {Map<string, Figure>[]} */ maps, /** @type {string} */ key) =>
    maps.flatMap((map) => map.get(key) ?? [])
  /** @type {Compared[]} */
  const figures = []
  for (const [key, figure] of ours[0] ?? []) {
    const [a, b] = [inAll(ours, key), inAll(theirs, key)]
    if (a.length !== rounds.length || b.length !== rounds.length) continue
    const ratio = spreadOf(a.map(({ value }, round) => ratioOf(value, b[round]?.value ?? NaN)))
    figures.push({
      name: figure.name,
      unit: figure.unit,
      ours: medianOf(a.map(({ value }) => value)),
      theirs: medianOf(b.map(({ value }) => value)),
      ratio,
      verdict: judge(ratio, betterDirection(figure)),
    })
  }
  const only = (/** @type {Map<string, Figure>[]} */ here, /** @type {Map<string, Figure>[]} */ there) =>
    [...(here[0] ?? [])].filter(([key]) => inAll(there, key).length === 0).map(([, { name }]) => name)
  return { figures, onlyOurs: only(ours, theirs), onlyTheirs: only(theirs, ours) }
}

/** @type {(figures: readonly Figure[]) => Map<string, Figure>} */
function byKey(figures) {
  const seen = new Map()
  for (const figure of figures) {
    let nth = 1
    while (seen.has(`${figure.name}#${nth}`)) nth++
    seen.set(`${figure.name}#${nth}`, figure)
  }
  return seen
}
