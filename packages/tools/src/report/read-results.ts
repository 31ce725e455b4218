import { printable } from '../terminal/printable.js'
import { BENCH_SCHEMA, benchResults, type BenchResults } from './bench-results.js'
import { UnfitValueError } from './checked-json.js'
import { ToolsError } from '../command-line/tools-error.js'

/**
 * Parses the output of `gpunvme bench --json`, and validates each field.
 * @param fileName for errors.
 * @throws BenchResultsError that names the invalid field.
 */
export function readResults(json: string, fileName: string): BenchResults {
  const value = parse(json, fileName)
  refuseOtherSchemas(value, fileName)
  try {
    return related(benchResults(value, ''))
  } catch (error) {
    throw error instanceof UnfitValueError ? new BenchResultsError(fileName, error.message) : error
  }
}

function parse(json: string, fileName: string): unknown {
  if (json.trim() === '') throw new BenchResultsError(fileName, 'the file is empty')
  try {
    return JSON.parse(json)
  } catch (cause) {
    throw new BenchResultsError(fileName, `invalid JSON: ${printable((cause as SyntaxError).message)}`, { cause })
  }
}

function refuseOtherSchemas(value: unknown, fileName: string): void {
  if (typeof value !== 'object' || value === null || !('schema' in value) || typeof value.schema !== 'string') return
  const [, verb, version] = /^gpunvme\.([a-z0-9]{1,20})\/(\d{1,6})$/.exec(value.schema) ?? []
  if (value.schema === BENCH_SCHEMA || verb === undefined) return
  if (verb === 'bench')
    throw new BenchResultsError(fileName, `it has version ${version!} of the format; this gpunvme reads version 1`, {
      next: 'use the gpunvme that wrote the file, or a newer one',
    })
  const what = verb === 'error' ? 'the error of a failed command' : `the output of gpunvme ${verb}`
  throw new BenchResultsError(fileName, `it is ${what}`)
}

/** Checks relations between fields. */
function related(passed: BenchResults): BenchResults {
  const sources = new Set<string>()
  passed.sources.forEach(({ name: own }, index) => {
    if (sources.has(own)) throw new UnfitValueError(`sources[${index}].name`, 'a unique name', own)
    sources.add(own)
  })
  const settings = new Set<string>()
  passed.cells.forEach((one, index) => {
    if (!sources.has(one.source)) throw new UnfitValueError(`cells[${index}].source`, 'one of sources', one.source)
    const setting = JSON.stringify([one.source, one.rw, one.pattern, one.blockBytes, one.depth, one.jobs])
    if (settings.has(setting)) throw new UnfitValueError(`cells[${index}]`, 'a unique setting', one)
    settings.add(setting)
  })
  const shown = passed.timeline?.cell
  if (shown !== undefined && shown >= passed.cells.length)
    throw new UnfitValueError('timeline.cell', `one of ${passed.cells.length} cells`, shown)
  return passed
}

/** Error of a file that does not have results of a benchmark, or in an unknown format. */
export class BenchResultsError extends ToolsError {
  readonly fileName: string

  constructor(fileName: string, problem: string, { next, cause }: { next?: string; cause?: unknown } = {}) {
    super(
      'ERR_GPUNVME_BENCH_RESULTS',
      'infeasible',
      `Cannot read ${fileName} as results of gpunvme bench: ${problem}`,
      {
        next: next ?? { command: ['bench', '-o', 'results.json'], note: 'which writes them' },
        cause,
      },
    )
    this.fileName = fileName
  }
}
