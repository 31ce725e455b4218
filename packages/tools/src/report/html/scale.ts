/** Maps values to coordinates of a drawing. */
export type Scale = (value: number) => number

export function linear([from, to]: readonly [number, number], [start, end]: readonly [number, number]): Scale {
  return (value) => start + ((value - from) / (to - from)) * (end - start)
}

/** A logarithmic scale, for positive values. */
export function logarithmic([from, to]: readonly [number, number], range: readonly [number, number]): Scale {
  const scale = linear([Math.log(from), Math.log(to)], range)
  return (value) => scale(Math.log(value))
}

/** Returns round values from 0 to the first that is not below `most`, about `count` of them. */
export function linearTicks(max: number, count: number): number[] {
  const rough = max / count
  const magnitude = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * magnitude).find((candidate) => candidate >= rough)!
  const steps = Math.ceil(max / step - 1e-9)
  return Array.from({ length: steps + 1 }, (_, index) => index * step)
}

/** Returns 1, 2 and 5 times powers of ten around a range, or only the powers if that would be too many. */
export function logTicks(min: number, max: number): { readonly from: number; readonly to: number; ticks: number[] } {
  const first = Math.floor(Math.log10(min))
  const last = Math.ceil(Math.log10(max))
  const fine = Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index)).flatMap((power) =>
    [1, 2, 5].map((factor) => factor * power),
  )
  const from = fine.findLast((tick) => tick <= min) ?? min
  const to = fine.find((tick) => tick >= max && tick > from) ?? max
  const within = fine.filter((tick) => tick >= from && tick <= to)
  const powers = within.filter((tick) => Math.abs(Math.log10(tick) - Math.round(Math.log10(tick))) < 1e-9)
  return { from, to, ticks: within.length <= 7 ? within : powers }
}

export interface Label {
  readonly at: number
  readonly text: string
}

/** Returns labels that fit beside each other, starting with the first; `letter` is the width of a letter. */
export function fitting(labels: readonly Label[], letter: number): Label[] {
  const kept: Label[] = []
  for (const label of labels) {
    const before = kept.at(-1)
    const halves = ((label.text.length + (before?.text.length ?? 0)) / 2 + 1.5) * letter
    if (before === undefined || label.at - before.at >= halves) kept.push(label)
  }
  return kept
}
