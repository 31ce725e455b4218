/** Maps times to positions from 0 to 1. */
export interface Scale {
  readonly startNs: number
  readonly endNs: number
  /** Pauses that are not drawn to scale, but shortened. */
  readonly breaks: readonly { readonly fromNs: number; readonly toNs: number }[]
  /** Returns the position of a time. */
  at(ns: number): number
  /** Returns the time at a position. */
  timeAt(position: number): number
}

/** Maximum length of a shortened pause, in median gaps between events. */
const LONGEST = 12

/**
 * Creates a scale for these times. With `shorten`, longer pauses are cut to `LONGEST` median gaps and listed in `breaks`:
 * traces have groups of events microseconds apart, with seconds between the groups.
 */
export function scaleOf(times: Iterable<number>, shorten: boolean): Scale {
  const sorted = [...new Set(times)].sort((a, b) => a - b)
  if (sorted.length === 0) sorted.push(0)
  const gaps = sorted.slice(1).map((ns, i) => ns - sorted[i]!)
  const median = gaps.toSorted((a, b) => a - b)[gaps.length >> 1] ?? 0
  const longest = shorten ? median * LONGEST : Infinity
  const offsets = [0]
  const breaks: { fromNs: number; toNs: number }[] = []
  for (const [i, gap] of gaps.entries()) {
    offsets.push(offsets[i]! + Math.min(gap, longest))
    if (gap > longest) breaks.push({ fromNs: sorted[i]!, toNs: sorted[i + 1]! })
  }
  const total = offsets.at(-1)! || 1
  /** Returns the index of the last value that is at most `value`. */
  const below = (values: readonly number[], value: number) => {
    let [low, high] = [0, values.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (values[middle]! <= value) low = middle
      else high = middle - 1
    }
    return low
  }
  const between = (from: readonly number[], to: readonly number[], value: number) => {
    const i = Math.min(below(from, value), Math.max(0, from.length - 2))
    const [a = 0, b = a] = [from[i], from[i + 1]]
    const share = b === a ? 0 : Math.min(1, Math.max(0, (value - a) / (b - a)))
    return to[i]! + share * ((to[i + 1] ?? to[i]!) - to[i]!)
  }
  return {
    startNs: sorted[0]!,
    endNs: sorted.at(-1)!,
    breaks,
    at: (ns) => between(sorted, offsets, ns) / total,
    timeAt: (position) => between(offsets, sorted, position * total),
  }
}

/** Formats a time or a duration: `20.0221 ms`, `1.5 µs`. */
export function formatTime(ns: number): string {
  const [size, unit] = (
    [
      [1e9, 's'],
      [1e6, 'ms'],
      [1e3, 'µs'],
    ] as const
  ).find(([each]) => Math.abs(ns) >= each) ?? [1, 'ns']
  return `${Number((ns / size).toPrecision(6))} ${unit}`
}
