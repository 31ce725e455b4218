import type { RunFailure } from './failure.js'

/** Maximum number of runs. */
const MAX_RUNS = 3000

/** A minimised failing scenario. */
export interface Shrunk<S> {
  readonly scenario: S
  readonly failure: RunFailure
  /** Number of runs of the minimisation. */
  readonly runs: number
}

/** Adopts a smaller scenario if it fails in the same way; returns whether it does. */
export type Accept<S> = (candidate: S) => Promise<boolean>

/** Functions that minimise one kind of scenario. */
export interface Shrinker<S> {
  readonly failureOf: (scenario: S) => Promise<RunFailure | undefined>
  readonly sizeOf: (scenario: S) => number
  /** Tries to remove each part once. */
  readonly removeParts: (smallest: () => S, keep: Accept<S>) => Promise<void>
}

/**
 * Removes parts of a failing scenario while the same assertion fails, until nothing more can be removed. Returns
 * undefined if the scenario does not fail.
 */
export async function shrink<S>(
  scenario: S,
  { failureOf, sizeOf, removeParts }: Shrinker<S>,
): Promise<Shrunk<S> | undefined> {
  const first = await failureOf(scenario)
  if (first === undefined) return undefined
  let smallest = scenario
  let failure = first
  let runs = 1
  const keep = async (candidate: S) => {
    if (runs++ > MAX_RUNS) return false
    const found = await failureOf(candidate)
    if (found?.assertion !== first.assertion) return false
    smallest = candidate
    failure = found
    return true
  }
  for (let size = Infinity; sizeOf(smallest) < size && runs < MAX_RUNS;) {
    size = sizeOf(smallest)
    await removeParts(() => smallest, keep)
  }
  return { scenario: smallest, failure, runs }
}

/** Removes halves, then quarters, down to single parts, while `stillFails` holds. */
export async function dropParts<T>(
  parts: readonly T[],
  stillFails: (left: readonly T[]) => Promise<boolean>,
): Promise<void> {
  let left = parts
  for (let chunk = Math.ceil(left.length / 2); chunk >= 1; chunk = chunk === 1 ? 0 : Math.ceil(chunk / 2)) {
    for (let at = left.length - chunk; at > -chunk && left.length > 0; at -= chunk) {
      const without = [...left.slice(0, Math.max(0, at)), ...left.slice(Math.max(0, at + chunk))]
      if (await stillFails(without)) left = without
    }
  }
}
