import { CommandPairs, jsonlTrace, perfettoTrace, textTrace } from '@gpunvme/nvme-spec/trace'
import type { TraceEvent, TraceSink } from '@gpunvme/nvme-spec/transport'

/** Output formats of a trace. */
export const FORMATS = ['text', 'jsonl', 'perfetto'] as const

export type Format = (typeof FORMATS)[number]

/** Kinds of events, with their predicates. */
const KINDS: Readonly<Record<string, (event: TraceEvent, track: string) => boolean>> = {
  registers: (_, track) => track === 'bar',
  doorbells: ({ name }, track) => isQueue(track) && name.startsWith('ring '),
  commands: ({ name }, track) => isQueue(track) && !name.startsWith('ring '),
  config: (_, track) => track === 'config',
  interrupts: (_, track) => track === 'interrupt',
  resets: (_, track) => track === 'reset',
}

/** Values of --only. */
export const EVENT_KINDS = Object.keys(KINDS)

function isQueue(track: string): boolean {
  return /^[sc]q \d+$/.test(track)
}

/** Writes events in a format. */
export interface EventWriter {
  readonly sink: TraceSink
  /** Writes the end of the format. */
  readonly end: () => void
}

export interface WriteEventsOptions {
  /** Kinds of events to write, of `EVENT_KINDS`. Default: all. The name of the drive is always written. */
  readonly only?: readonly string[]
  /** Title of a Perfetto trace. */
  readonly title: string
}

/** Writes events in a format to `output`, which receives whole lines. */
export function writeEvents(
  format: Format,
  output: (text: string) => void,
  { only, title }: WriteEventsOptions,
): EventWriter {
  const writer = writerOf(format, output, title)
  if (only === undefined) return writer
  const isWanted = only.map((kind) => KINDS[kind]!)
  const sink: TraceSink = (event) => {
    const track = event.track.replace(/^\d+: /, '')
    if (track === 'trace' || isWanted.some((wanted) => wanted(event, track))) writer.sink(event)
  }
  return { ...writer, sink }
}

function writerOf(format: Format, output: (text: string) => void, title: string): EventWriter {
  if (format === 'perfetto') return perfettoWriter(output, title)
  return { sink: format === 'jsonl' ? jsonlTrace(output) : textTrace(output), end: () => undefined }
}

/** A timeline viewer shows spans: each command from submission to completion, in addition to the events. */
function perfettoWriter(output: (text: string) => void, process: string): EventWriter {
  const trace = perfettoTrace(output, { process })
  const pairs = new CommandPairs()
  const sink: TraceSink = (event) => {
    trace(event)
    const found = pairs.add(event)
    if (found?.kind !== 'completed') return
    const { drive, command, submittedNs, completion, completedNs } = found
    trace({
      timeNs: submittedNs,
      track: `${drive}queue ${command.qid}`,
      name: command.name,
      durationNs: completedNs - submittedNs,
      command,
      details: { status: completion.status },
    })
  }
  return { sink, end: () => trace.end() }
}
