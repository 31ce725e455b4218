import type { BenchCell, BenchResults } from './bench-results.js'
import { formatSetting, workloadTitle } from './findings.js'
import { counted } from './statistics.js'

/** Something without a number in the report. */
export interface Missing {
  readonly source: string
  /** The affected cells. */
  readonly what: string
  readonly why: string
  readonly next: string | undefined
}

/** Returns refused and failed cells, and invalid repeats, grouped by reason. */
export function missingOf({ sources, cells, time }: BenchResults): Missing[] {
  const bySource = sources.flatMap(({ name, missing }) =>
    missing === undefined ? [] : [{ source: name, what: 'all of it', why: missing.reason, next: missing.next }],
  )
  const byCell = cells.flatMap((cell) => {
    const { problem, repeats, source } = cell
    const place = `${workloadTitle(cell).toLowerCase()}, ${formatSetting(cell)}`
    if (problem !== undefined) {
      const why = problem.kind === 'failed' ? `measured, but invalid: ${problem.reason}` : problem.reason
      return [{ source, place, why, next: problem.next }]
    }
    if (repeats.length === 0) return [{ source, place, why: 'no repeat was run', next: undefined }]
    if (counted(repeats).every(({ bytes, commands }) => bytes === 0 || commands === 0))
      return [{ source, place, why: firstProblem(cell) ?? 'no data were moved', next: undefined }]
    return repeats.flatMap(({ problem: why }, index) =>
      why === undefined ? [] : [{ source, place: `repeat ${index + 1} of ${place}`, why, next: undefined }],
    )
  })
  const groups = new Map<string, typeof byCell>()
  for (const one of byCell) {
    const key = JSON.stringify([one.source, one.why, one.next])
    groups.set(key, [...(groups.get(key) ?? []), one])
  }
  const grouped = [...groups.values()].map((group) => {
    const { source, why, next } = group[0]!
    return { source, what: places(group.map(({ place }) => place)), why, next }
  })
  const cpu = {
    source: 'every source',
    what: 'CPU time',
    why: "in modelled time, it would be the simulator's",
    next: undefined,
  }
  return [...bySource, ...grouped, ...(time === 'modelled' && cells.length > 0 ? [cpu] : [])]
}

function firstProblem({ repeats }: BenchCell): string | undefined {
  return repeats.find(({ problem }) => problem !== undefined)?.problem
}

const MAX_NAMED = 3

function places(all: readonly string[]): string {
  const named = all.slice(0, MAX_NAMED).join('; ')
  return all.length > MAX_NAMED ? `${named}; and ${all.length - MAX_NAMED} more` : named
}
