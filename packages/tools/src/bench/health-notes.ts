import type { BenchCell } from '../report/bench-results.js'
import { median } from './outliers.js'
import { describeShape } from './cell-table.js'

/** Repeats are inhomogeneous if the last ones are slower than the first by this factor. */
const SLOWER = 0.9
const MIN_REPEATS = 4

/** Remarks from the drive's health, and on its health from the results. */
export function healthNotes(cells: readonly BenchCell[]): string[] {
  return [...temperatureNote(cells), ...throttleNote(cells), ...cells.flatMap(driftNote)]
}

function temperatureNote(cells: readonly BenchCell[]): string[] {
  const all = cells.flatMap(({ repeats }) => repeats)
  const found = all.flatMap(({ turn, temperatureCelsius }) =>
    turn === undefined || temperatureCelsius === undefined ? [] : [{ turn, ...temperatureCelsius }],
  )
  const first = found.toSorted((a, b) => a.turn - b.turn)[0]
  if (first === undefined) return []
  const most = found.reduce((most, { before, after }) => Math.max(most, Math.max(before, after)), 0)
  return [`Composite Temperature: ${first.before} °C before the first repeat, at most ${most} °C.`]
}

function throttleNote(cells: readonly BenchCell[]): string[] {
  const throttled = cells.flatMap(({ repeats }) => repeats).reduce((sum, each) => sum + (each.throttledSeconds ?? 0), 0)
  if (throttled === 0) return []
  return [`The drive throttled for ${throttled} s because of heat (Thermal Management Temperatures 1 and 2).`]
}

/** Repeats in the order of their turns. */
function driftNote(cell: BenchCell): string[] {
  const rates = cell.repeats.filter(({ problem }) => problem === undefined).map(({ bytes, seconds }) => bytes / seconds)
  if (rates.length < MIN_REPEATS) return []
  const half = Math.floor(rates.length / 2)
  const pace = median(rates.slice(-half)) / median(rates.slice(0, half))
  if (pace >= SLOWER) return []
  const percent = Math.round((1 - pace) * 100)
  return [
    `${cell.source}, ${describeShape(cell)}: the last repeats were ${percent} % slower than the first: heat, or a full cache. A longer --cool-down shows which.`,
  ]
}
