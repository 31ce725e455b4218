const MAX_SUGGESTIONS = 3

interface Rated {
  readonly name: string
  readonly likeness: number
  readonly distance: number
}

/**
 * Returns the existing names that are most similar to a missing one, best first. A name that differs only in its
 * numbers is nearer than one that is spelt differently: for 'blk.40.attn_q.weight' in a model of 32 blocks, it is
 * 'blk.31.attn_q.weight'.
 */
export function nearestNames(wanted: string, names: Iterable<string>): string[] {
  const masked = withoutNumbers(wanted)
  const numbers = numbersIn(wanted)
  // Keeps only the best: there may be half a million names.
  const best: Rated[] = []
  for (const name of names) {
    const rated = {
      name,
      likeness: likeness(masked, withoutNumbers(name)),
      distance: distance(numbers, numbersIn(name)),
    }
    const place = best.findIndex((other) => isNearer(rated, other))
    best.splice(place < 0 ? best.length : place, 0, rated)
    if (best.length > MAX_SUGGESTIONS) best.pop()
  }
  return best.map(({ name }) => name)
}

function isNearer(a: Rated, b: Rated): boolean {
  return a.likeness === b.likeness ? a.distance < b.distance : a.likeness > b.likeness
}

/** Number of common characters at the start and at the end, minus the other characters. */
function likeness(a: string, b: string): number {
  const shorter = Math.min(a.length, b.length)
  let start = 0
  while (start < shorter && a[start] === b[start]) start++
  let end = 0
  while (end < shorter - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  return start + end - Math.abs(a.length - b.length)
}

/** The first number that differs has most weight: a layer is further away than an expert of the same layer. */
function distance(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, number, index) => sum + Math.abs(number - (b[index] ?? 0)) / 1e6 ** index, 0)
}

function withoutNumbers(name: string): string {
  return name.replace(/\d+/g, '#')
}

function numbersIn(name: string): number[] {
  return Array.from(name.matchAll(/\d+/g), ([digits]) => Number(digits))
}
