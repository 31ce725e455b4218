import { printable } from '../terminal/printable.js'
import {
  BENCH_SCHEMA,
  type BenchCell,
  type BenchCommand,
  type BenchCounters,
  type BenchLatency,
  type BenchReason,
  type BenchRepeat,
  type BenchResults,
  type BenchSource,
} from './bench-results.js'
import {
  list,
  matching,
  number,
  object,
  oneOf,
  pair,
  text,
  UnfitValueError,
  whole,
  type Check,
} from './checked-json.js'
import { ToolsError } from '../command-line/tools-error.js'

// Limits above those of any run, small enough to draw.
const MAX_SOURCES = 32
const MAX_CELLS = 4096
const MAX_REPEATS = 1000
const MAX_BUCKETS = 4096
const MAX_COMMANDS = 20_000

const name = text(64)
const line = text(300)
const paragraph = text(2000)
const positive = number(Number.MIN_VALUE)
const time = matching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/, "a time such as '2026-11-22T18:00:00Z'")
const counter = matching(/^\d{1,39}$/, 'a decimal number as text')

const reason: Check<BenchReason> = object({ reason: paragraph }, { next: paragraph })
const counters: Check<BenchCounters> = object({
  dataUnitsRead: counter,
  dataUnitsWritten: counter,
  hostReadCommands: counter,
  hostWriteCommands: counter,
})
const celsius = number(-273.15, 10_000)

const latency: Check<BenchLatency> = (value, at) => {
  const passed = object(
    { leastNs: number(0), mostNs: number(0), buckets: list(pair(number(0), whole(1)), MAX_BUCKETS) },
    { commandsPerPlan: positive },
  )(value, at)
  if (passed.leastNs > passed.mostNs) throw new UnfitValueError(`${at}.mostNs`, 'at least leastNs', passed.mostNs)
  passed.buckets.forEach(([upToNs], index) => {
    if (index > 0 && upToNs <= passed.buckets[index - 1]![0])
      throw new UnfitValueError(`${at}.buckets[${index}][0]`, 'more than the previous edge', upToNs)
  })
  return passed
}

const repeat: Check<BenchRepeat> = object(
  { bytes: whole(0), commands: whole(0), seconds: number(1e-9) },
  {
    cpuSeconds: number(0),
    latency,
    turn: whole(0),
    outlier: line,
    problem: paragraph,
    counters: object({ before: counters, after: counters }),
    temperatureCelsius: object({ before: celsius, after: celsius }),
    throttledSeconds: number(0),
  },
)

const source: Check<BenchSource> = object(
  {
    name,
    kind: oneOf('engine', 'baseline'),
    description: line,
    memory: oneOf('host', 'gpu'),
    latencyOf: oneOf('command', 'plan', 'call'),
  },
  { missing: reason },
)

const cell: Check<BenchCell> = object(
  {
    source: name,
    rw: oneOf('read', 'write', 'mixed'),
    pattern: oneOf('sequential', 'random'),
    blockBytes: whole(1),
    depth: whole(1),
    jobs: whole(1),
    repeats: list(repeat, MAX_REPEATS),
  },
  { problem: object({ kind: oneOf('refused', 'failed'), reason: paragraph }, { next: paragraph }) },
)

const command: Check<BenchCommand> = (value, at) => {
  const passed = object({ queue: whole(0), startNs: number(0), endNs: number(0), bytes: whole(0) })(value, at)
  if (passed.endNs < passed.startNs) throw new UnfitValueError(`${at}.endNs`, 'at least startNs', passed.endNs)
  return passed
}

const results: Check<BenchResults> = object(
  {
    schema: oneOf(BENCH_SCHEMA),
    version: name,
    command: paragraph,
    startedAt: time,
    totalSeconds: number(0),
    time: oneOf('modelled', 'wall'),
    transport: name,
    machine: object({ cpu: line, cpus: whole(1), kernel: line, node: line }, { gpu: line }),
    drive: object(
      { model: line, firmware: line, capacityBytes: whole(0), blockBytes: whole(1) },
      { profile: name, address: name, serialEnd: text(4), maxTransferBytes: whole(1) },
    ),
    method: object(
      { repeats: whole(1), span: object({ firstByte: whole(0), lengthBytes: whole(0) }), seed: whole(0) },
      {
        secondsPerRepeat: positive,
        bytesPerRepeat: whole(1),
        warmUpSeconds: number(0),
        coolDownSeconds: number(0),
        outlierRule: line,
      },
    ),
    sources: list(source, MAX_SOURCES),
    cells: list(cell, MAX_CELLS),
    notes: list(paragraph, 100),
  },
  {
    link: object({
      gen: whole(1, 9),
      width: whole(1, 32),
      mps: whole(128, 4096),
      payloadLimitBytesPerSecond: positive,
    }),
    runs: list(object({ startedAt: time, sources: list(name, MAX_SOURCES) }), 100),
    timeline: object({ cell: whole(0), commands: list(command, MAX_COMMANDS) }),
  },
)

/**
 * Parses the output of `gpunvme bench --json`, and validates each field.
 * @param fileName for errors.
 * @throws BenchResultsError that names the invalid field.
 */
export function readResults(json: string, fileName: string): BenchResults {
  const value = parse(json, fileName)
  refuseOtherSchemas(value, fileName)
  try {
    return related(results(value, ''))
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
