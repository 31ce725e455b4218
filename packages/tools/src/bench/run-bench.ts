import type { Clock } from '@gpunvme/nvme-spec/transport'
import {
  BENCH_SCHEMA,
  type BenchDrive,
  type BenchLink,
  type BenchResults,
  type BenchMachine,
  type BenchCell,
} from '../report/bench-results.js'
import type { Output } from '../terminal/output.js'
import { sweepOf, type BenchFlags } from './bench-flags.js'
import type { Participants } from './participants.js'
import { paceNotes } from './pace.js'
import { pause } from './pause.js'
import { BenchReporter } from './reporter.js'
import { methodOf } from './results.js'
import type { Setting } from './setting.js'
import { shapesOf } from './shape.js'
import { runSweep } from './sweep.js'
import { cudaStatus } from '@gpunvme/cuda-native'
import { availableParallelism, cpus, release, type } from 'node:os'
import { median } from './outliers.js'
import { describeShape } from './cell-table.js'

/** Target of a benchmark, with either driver. */
export interface Ground {
  readonly drive: BenchDrive
  readonly transport: string
  readonly time: BenchResults['time']
  readonly link: BenchLink | undefined
  /** Clock of cool-downs. */
  readonly clock: Clock
  /** Notes on the target. */
  readonly notes: readonly string[]
}

/** Title of a run, and the program that made it. */
export interface Title {
  readonly version: string
  readonly command: string
}

/** Runs all requested measurements, and reports them. */
export async function runBench(
  ground: Ground,
  { contenders, sources }: Participants,
  setting: Setting,
  flags: BenchFlags,
  title: Title,
  output: Output,
): Promise<BenchResults> {
  const { drive, transport, time, link, clock } = ground
  const startedAt = new Date().toISOString()
  const startMs = performance.now()
  const { coolDownSeconds, repeats, signal } = setting
  const reporter = new BenchReporter(output, { repeats, markdown: flags.markdown }, { sources, link, time })
  const { cells, timeline, paces, remarks } = await runSweep({
    shapes: shapesOf(sweepOf(flags)),
    contenders,
    repeats,
    coolDown: () => pause(clock, coolDownSeconds, signal),
    timeline: flags.timeline === true,
    onTurn: reporter.onTurn,
    onCells: reporter.onCells,
  })
  const noTimeline = flags.timeline === true && timeline === undefined
  const notes = [
    ...ground.notes,
    ...healthNotes(cells),
    ...paceNotes(paces),
    ...remarks,
    ...(noTimeline ? ['No timeline: only the engine host records individual commands.'] : []),
  ]
  reporter.end(notes)
  return {
    schema: BENCH_SCHEMA,
    ...title,
    startedAt,
    totalSeconds: (performance.now() - startMs) / 1000,
    time,
    transport,
    machine: describeMachine(contenders.some(({ source }) => source.name === 'cuda')),
    drive,
    ...(link !== undefined && { link }),
    method: methodOf(setting, drive.blockBytes),
    sources,
    cells,
    ...(timeline !== undefined && { timeline }),
    notes,
  }
}

/** Describes the measuring machine, without names of it or of its owner. @param withGpu whether a GPU took part. */
function describeMachine(withGpu: boolean): BenchMachine {
  const gpu = withGpu ? gpuName() : undefined
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cpus: availableParallelism(),
    kernel: `${type()} ${release()}`,
    node: process.version,
    ...(gpu !== undefined && { gpu }),
  }
}

/** Name of the first GPU, which engines use. */
function gpuName(): string | undefined {
  const status = cudaStatus()
  return status.available ? status.devices[0]?.name : undefined
}

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
  const max = found.reduce((max, { before, after }) => Math.max(max, Math.max(before, after)), 0)
  return [`Composite Temperature: ${first.before} °C before the first repeat, at most ${max} °C.`]
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
