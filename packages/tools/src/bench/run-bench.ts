import type { Clock } from '@gpunvme/nvme-spec/transport'
import { BENCH_SCHEMA, type BenchDrive, type BenchLink, type BenchResults } from '../report/bench-results.js'
import type { Output } from '../terminal/output.js'
import { sweepOf, type BenchFlags } from './bench-flags.js'
import { healthNotes } from './health-notes.js'
import { describeMachine } from './machine.js'
import type { Participants } from './participants.js'
import { paceNotes } from './pace.js'
import { pause } from './pause.js'
import { BenchReporter } from './reporter.js'
import { methodOf } from './results.js'
import type { Setting } from './setting.js'
import { shapesOf } from './shape.js'
import { runSweep } from './sweep.js'

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
