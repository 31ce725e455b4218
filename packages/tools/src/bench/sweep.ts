import type { BenchCell, BenchCommand, BenchReason, BenchRepeat } from '../report/bench-results.js'
import { RefusedError, type Contender } from './contender.js'
import { outliers } from './outliers.js'
import type { Shape } from './shape.js'

export interface SweepOptions {
  readonly shapes: readonly Shape[]
  readonly contenders: readonly Contender[]
  readonly repeats: number
  /** Runs between two repeats of any source. */
  readonly coolDown: () => Promise<void>
  /** Whether to record individual commands of the last setting. */
  readonly timeline: boolean
  /** Called before each repeat. */
  readonly onTurn?: (shape: Shape, name: string, repeat: number) => void
  /** Called after a setting, with one cell per contender. */
  readonly onCells?: (shape: Shape, cells: readonly BenchCell[]) => void
}

export interface SweepOutcome {
  readonly cells: readonly BenchCell[]
  readonly timeline?: { readonly cell: number; readonly commands: readonly BenchCommand[] }
  /** Known paces of repeats, in order. */
  readonly paces: readonly number[]
  /** Remarks without duplicates. */
  readonly remarks: readonly string[]
}

/** A cell that is being filled. */
interface Entry {
  readonly contender: Contender
  readonly repeats: BenchRepeat[]
  refusal?: BenchReason
  timeline?: readonly BenchCommand[]
}

/**
 * Measures each setting with each contender. All contenders run their first repeat of a setting before any runs its
 * second, and the order rotates, so that heat and disturbances affect all alike.
 */
export async function runSweep(options: SweepOptions): Promise<SweepOutcome> {
  const { shapes, contenders, onCells } = options
  const turns = new Turns(options)
  const cells: BenchCell[] = []
  let timeline: SweepOutcome['timeline']
  for (const shape of shapes) {
    const entries = contenders.map((contender): Entry => ({ contender, repeats: [] }))
    const observed = shape === shapes.at(-1) && options.timeline ? entries.find(tellsOfCommands) : undefined
    await turns.take(shape, entries, observed)
    const own = entries.map((entry) => cellOf(shape, entry))
    if (observed?.timeline !== undefined) {
      timeline = { cell: cells.length + entries.indexOf(observed), commands: observed.timeline }
    }
    for (const each of own) cells.push(each)
    onCells?.(shape, own)
  }
  return { cells, ...(timeline !== undefined && { timeline }), paces: turns.paces, remarks: turns.remarks }
}

function tellsOfCommands({ contender: { source } }: Entry): boolean {
  return source.latencyOf === 'command'
}

class Turns {
  private readonly options: SweepOptions
  readonly paces: number[] = []
  private readonly said = new Set<string>()
  private turn = 0

  constructor(options: SweepOptions) {
    this.options = options
  }

  get remarks(): string[] {
    return [...this.said]
  }

  async take(shape: Shape, entries: readonly Entry[], observed: Entry | undefined): Promise<void> {
    const { repeats } = this.options
    for (let repeat = 0; repeat < repeats; repeat++) {
      for (let index = 0; index < entries.length; index++) {
        const entry = entries[(index + repeat) % entries.length]!
        if (entry.refusal === undefined) await this.takeOne(shape, entry, repeat, entry === observed && repeat === 0)
      }
    }
  }

  private async takeOne(shape: Shape, entry: Entry, repeat: number, withTimeline: boolean): Promise<void> {
    const { contender, repeats } = entry
    const { coolDown, onTurn } = this.options
    onTurn?.(shape, contender.source.name, repeat)
    if (this.turn > 0) await coolDown()
    try {
      const measured = await contender.measure(shape, withTimeline)
      repeats.push({ ...measured.repeat, turn: this.turn++ })
      if (measured.pace !== undefined) this.paces.push(measured.pace)
      for (const remark of measured.remarks) this.said.add(remark)
      if (measured.timeline !== undefined) entry.timeline = measured.timeline
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error
      entry.refusal = error.refusal
    }
  }
}

function cellOf(shape: Shape, { contender, repeats, refusal }: Entry): BenchCell {
  const problem = problemOf(repeats, refusal)
  return {
    source: contender.source.name,
    ...shape,
    repeats: withOutliers(repeats),
    ...(problem !== undefined && { problem }),
  }
}

function problemOf(repeats: readonly BenchRepeat[], refusal: BenchReason | undefined): BenchCell['problem'] {
  const wrong = repeats.find(({ problem }) => problem !== undefined)
  if (wrong?.problem !== undefined) return { kind: 'failed', reason: wrong.problem }
  return refusal === undefined ? undefined : { kind: 'refused', ...refusal }
}

/** Marks valid repeats whose rate is far from that of the others. */
function withOutliers(repeats: readonly BenchRepeat[]): BenchRepeat[] {
  const believed = repeats.filter(({ problem }) => problem === undefined)
  const marks = outliers(believed.map(({ bytes, seconds }) => bytes / seconds))
  return repeats.map((repeat) => {
    const outlier = marks[believed.indexOf(repeat)]
    return outlier === undefined ? repeat : { ...repeat, outlier }
  })
}
