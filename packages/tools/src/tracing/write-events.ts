import { jsonlTrace, perfettoTrace, textTrace } from '@gpunvme/nvme-spec/trace'
import type { TraceEvent, TraceSink } from '@gpunvme/nvme-spec/transport'
import { CommandPairs } from './command-pairs.js'

/** How a trace is written down. */
export const FORMATS = ['text', 'jsonl', 'perfetto'] as const

export type Format = (typeof FORMATS)[number]

/** Kinds of events, and which ones they are. */
const KINDS: Readonly<Record<string, (event: TraceEvent, track: string) => boolean>> = {
  registers: (_, track) => track === 'bar',
  doorbells: ({ name }, track) => isQueue(track) && name.startsWith('ring '),
  commands: ({ name }, track) => isQueue(track) && !name.startsWith('ring '),
  config: (_, track) => track === 'config',
  interrupts: (_, track) => track === 'interrupt',
  resets: (_, track) => track === 'reset',
}

/** What --only takes. */
export const EVENT_KINDS = Object.keys(KINDS)

function isQueue(track: string): boolean {
  return /^[sc]q \d+$/.test(track)
}

/** Where events go in a format, and how that ends. */
export interface EventWriter {
  readonly sink: TraceSink
  /** Writes what a format needs at its end. */
  readonly end: () => void
}

export interface WriteEventsOptions {
  /** Only events of these kinds, of `EVENT_KINDS`; all when not given. Which drive was opened is always told. */
  readonly only?: readonly string[]
  /** What stands above a Perfetto trace. */
  readonly title: string
}

/** Writes events in a format to `output`, which takes whole lines. */
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

/** A viewer of time lines shows spans: each command from its submission to its completion, beside the events. */
function perfettoWriter(output: (text: string) => void, process: string): EventWriter {
  const trace = perfettoTrace(output, { process })
  const pairs = new CommandPairs()
  const sink: TraceSink = (event) => {
    trace(event)
    const found = pairs.add(event)
    if (found?.kind !== 'completed') return
    const { drive, qid, submitted, submittedNs, completed, completedNs } = found.command
    trace({
      timeNs: submittedNs,
      track: `${drive}queue ${qid}`,
      name: submitted.name,
      durationNs: completedNs - submittedNs,
      details: { ...Object.fromEntries(submitted.fields), status: completed.status },
    })
  }
  return { sink, end: () => trace.end() }
}
