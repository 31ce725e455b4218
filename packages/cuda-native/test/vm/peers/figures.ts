import type { Measurement } from '../guest/peer-window.js'

/** Medians of one driver with one shape, over all rounds. */
export interface Figure {
  readonly driver: string
  readonly shape: string
  readonly rounds: number
  readonly iops: number
  /** Instructions per read, by all vCPUs, including unrelated work. 0 if they were not counted. */
  readonly instructions: number
  readonly userInstructions: number
  /** User and system time of the reading process, in microseconds per read. */
  readonly cpuUs: number
  /** Lowest and highest IOPS of a round. */
  readonly spread: readonly [number, number]
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = (sorted.length - 1) / 2
  return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2
}

const iops = ({ ios, ms }: Measurement) => (ios / ms) * 1000

export function figuresOf(measurements: readonly Measurement[]): Figure[] {
  const groups = new Map<string, Measurement[]>()
  for (const measurement of measurements) {
    const key = `${measurement.shape}\n${measurement.driver}`
    groups.set(key, [...(groups.get(key) ?? []), measurement])
  }
  return [...groups.values()].map((group) => {
    const of = (value: (measurement: Measurement) => number) => median(group.map(value))
    const rates = group.map(iops)
    return {
      driver: group[0]!.driver,
      shape: group[0]!.shape,
      rounds: group.length,
      iops: median(rates),
      instructions: of(({ ios, instructions: { user, kernel } }) => (user + kernel) / ios),
      userInstructions: of(({ ios, instructions: { user } }) => user / ios),
      cpuUs: of(({ ios, cpuUs }) => ((cpuUs?.user ?? NaN) + (cpuUs?.system ?? NaN)) / ios),
      spread: [Math.min(...rates), Math.max(...rates)],
    }
  })
}

/** Combines the rates of one run with the instruction counts of another one, which counting slowed down. */
export function joined(rates: readonly Figure[], counts: readonly Figure[]): Figure[] {
  return rates.map((figure) => {
    const { instructions = NaN, userInstructions = NaN } =
      counts.find(({ driver, shape }) => driver === figure.driver && shape === figure.shape) ?? {}
    return { ...figure, instructions, userInstructions }
  })
}

/**
 * Formats a Markdown table. The last columns are the ratios of IOPS and of instructions of `ours` to those of each
 * driver.
 */
export function tableOf(figures: readonly Figure[], ours: string): string {
  const rows = figures.map((figure) => {
    const reference = figures.find(({ driver, shape }) => driver === ours && shape === figure.shape)!
    const ratio = (of: (figure: Figure) => number) => (of(reference) / of(figure)).toFixed(2)
    return [
      figure.shape,
      figure.driver,
      `${rounded(figure.iops)} (${figure.spread.map(rounded).join(' to ')})`,
      rounded(figure.instructions),
      rounded(figure.userInstructions),
      figure.cpuUs.toFixed(0),
      ratio(({ iops }) => iops),
      ratio(({ instructions }) => instructions),
    ]
  })
  const head = [
    'reads',
    'driver',
    'IOPS',
    'instructions per read',
    'in user space',
    'CPU µs per read',
    `IOPS, ${ours} ÷ this`,
    `instructions, ${ours} ÷ this`,
  ]
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function rounded(value: number): string {
  return value >= 10_000 ? `${(value / 1000).toFixed(1)} k` : String(Math.round(value))
}
