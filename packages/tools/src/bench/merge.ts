import type { BenchMethod, BenchResults } from '../report/bench-results.js'
import { ToolsError } from '../command-line/tools-error.js'

/**
 * Joins two runs on the same drive, one with Linux's driver and one with ours. They did not alternate, so differences
 * include changes in between; a note says so.
 * @throws ToolsError (BENCH_MERGE) if the drives or settings differ.
 */
export function mergeResults(a: BenchResults, b: BenchResults): BenchResults {
  const [first, second] = a.startedAt <= b.startedAt ? [a, b] : [b, a]
  requireSame('drive', drivesOf(first), drivesOf(second))
  requireSame('clock', first.time, second.time)
  requireSame('method', methodOf(first.method), methodOf(second.method))
  requireSame('processor', first.machine.cpu, second.machine.cpu)
  const measured = measuredNames(second)
  const both = measuredNames(first).filter((name) => measured.includes(name))
  if (both.length > 0) throw mergeError('source', `${both.join(', ')} in one`, 'the same in the other')
  const link = first.link ?? second.link
  const { timeline: later, ...rest } = second
  const { timeline = later && { ...later, cell: later.cell + first.cells.length }, ...base } = first
  return {
    ...rest,
    ...base,
    startedAt: first.startedAt,
    totalSeconds: first.totalSeconds + second.totalSeconds,
    transport: `${first.transport}, ${second.transport}`,
    ...(link !== undefined && { link }),
    // A source of one half is not missing because it is absent from the other.
    sources: [...takingPart(first, measured), ...takingPart(second, measuredNames(first))],
    cells: [...first.cells, ...second.cells],
    runs: [...runsOf(first), ...runsOf(second)],
    ...(timeline !== undefined && { timeline }),
    notes: [
      ...new Set([
        ...first.notes,
        ...second.notes,
        'Two runs were joined: their repeats did not alternate, so comparisons between them include any change in between.',
      ]),
    ],
  }
}

/** Identity of the drive, as far as both drivers report it. */
function drivesOf({ drive: { model, firmware, serialEnd = '?', capacityBytes, blockBytes } }: BenchResults): string {
  return `${model}, firmware ${firmware}, serial number ...${serialEnd}, ${capacityBytes} bytes in blocks of ${blockBytes}`
}

function methodOf({ secondsPerRepeat, repeats, warmUpSeconds, coolDownSeconds, span }: BenchMethod): string {
  const { firstByte, lengthBytes } = span
  return `${repeats} repeats of ${secondsPerRepeat ?? '?'} s, warm-up ${warmUpSeconds ?? 0} s, cool-down ${coolDownSeconds ?? 0} s, ${lengthBytes} bytes from ${firstByte}`
}

function requireSame(what: string, a: string, b: string): void {
  if (a !== b) throw mergeError(what, a, b)
}

function measuredNames({ sources }: BenchResults): string[] {
  return sources.filter(({ missing }) => missing === undefined).map(({ name }) => name)
}

function takingPart({ sources }: BenchResults, elsewhere: readonly string[]): BenchResults['sources'] {
  return sources.filter(({ name, missing }) => missing === undefined || !elsewhere.includes(name))
}

function runsOf(results: BenchResults): NonNullable<BenchResults['runs']> {
  return results.runs ?? [{ startedAt: results.startedAt, sources: measuredNames(results) }]
}

/** Error of runs that cannot be compared. */
function mergeError(what: string, a: string, b: string): ToolsError {
  return new ToolsError(
    'ERR_GPUNVME_BENCH_MERGE',
    'infeasible',
    `The two runs cannot be joined: not the same ${what}`,
    {
      facts: [a, b],
      next: 'use the same options for both, on the same drive and machine',
    },
  )
}
