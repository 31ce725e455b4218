import { EngineUnsuitableError } from '@gpunvme/cuda-native'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { TraceSink } from '@gpunvme/nvme-spec/transport'
import { InvalidArgumentError, Option, type Command } from 'commander'
import { sameFile } from '../block-io/same-file.js'
import { EXIT } from '../command-line/exit-codes.js'
import { isVerb, placeOf, wordsOf } from '../command-line/place.js'
import { unknownCommand } from '../command-line/suggestions.js'
import { UsageError, ToolsError } from '../command-line/tools-error.js'
import { verb, type Context } from '../command-line/verb.js'
import { createProgram, parse } from '../command-line/program.js'
import type { Session } from '../command-line/session.js'
import type { Output, OutputOptions } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { plural } from '../terminal/units.js'
import { traceInto } from '../tracing/active.js'
import { traceToFile, traceToStderr } from '../tracing/trace-output.js'
import { EVENT_KINDS, FORMATS, writeEvents, type EventWriter, type Format } from '../tracing/write-events.js'
import { errorLines, errorText } from '../command-line/error-text.js'

interface Flags extends OutputOptions {
  readonly format: Format
  readonly output?: string
  readonly only?: readonly string[]
}

export const trace = verb({
  options(command) {
    command
      .argument('<verb>', 'a verb that accesses a controller: load, nvme read')
      .argument('[arguments...]', 'arguments and options of that verb')
      .addOption(new Option('--format <name>', 'output format').choices(FORMATS).default('text'))
      .option('-o, --output <file>', 'write the trace to FILE (default: stderr)')
      .option('--only <kinds>', `kinds of events, separated by commas: ${EVENT_KINDS.join(', ')}`, kinds)
      .passThroughOptions()
  },
  about: `
Runs VERB and records what the host does with the drive: register accesses with
their fields, commands and completions decoded, doorbells, configuration space,
interrupts and resets. The output and exit code of VERB are unchanged; only the
time between accesses changes. --json and -q apply to VERB too.

FILE is replaced atomically at the end, even if VERB fails or is interrupted;
memory use does not grow with the trace. A killed process leaves
.FILE.PID.partial beside it.

  text      one event per line, for reading and for diff
  jsonl     one JSON object per line, for programs and for gpunvme nvme replay
  perfetto  for https://ui.perfetto.dev: commands as bars on a time line

Times are modelled for a simulated drive, otherwise wall time. If a verb opens
several drives, tracks of the second one are named '2: sq 1' and so on.
Doorbells rung by a GPU or by native threads are not seen: use --engine host.
Commands sent through Linux's own driver are not seen either.`,
  examples: [
    'gpunvme nvme trace nvme identify --sim',
    'gpunvme nvme trace --only commands nvme read --sim --lba 8',
    'gpunvme nvme trace --format jsonl -o t.jsonl -- nvme read --image drive.img',
    'gpunvme nvme trace --format perfetto -o t.json load --image drive.img',
  ],
  run: (word: string, words: string[], flags: Flags, { output, session }: Context) =>
    run([word, ...words], flags, output, session),
})

function kinds(text: string): string[] {
  const words = text.split(',').map((word) => word.trim())
  const unknown = words.find((word) => !EVENT_KINDS.includes(word))
  if (unknown !== undefined) throw new InvalidArgumentError(`Expected kinds from ${EVENT_KINDS.join(', ')}.`)
  return words
}

async function run(typed: readonly string[], flags: Flags, output: Output, session: Session): Promise<void> {
  const words = [...(flags.json ? ['--json'] : []), ...(flags.quiet ? ['--quiet'] : []), ...typed]
  const program = await createProgram(session, words)
  const traced = placeOf(program, words)
  const name = wordsOf(traced).join(' ')
  checkTraced(traced, typed)
  const { format, output: path, only } = flags
  if (path !== undefined && words.some((word) => sameFile(word.replace(/^--[^=]+=/, ''), path))) {
    throw new UsageError(`${printable(path)} is used by ${name} and would be overwritten`, {
      next: 'use another -o FILE',
    })
  }
  const makeWriter = (write: (text: string) => void) =>
    writeEvents(format, write, { ...(only && { only }), title: `gpunvme ${typed.join(' ')}` })
  const writer = path === undefined ? traceToStderr(makeWriter, output) : traceToFile(path, makeWriter)
  let count = 0
  const counting: TraceSink = (event) => {
    count++
    writer.sink(event)
  }
  try {
    await traceInto(counting, () => call(program, words))
    if (count === 0) output.note(`${name} accessed no controller through gpunvme: nothing was traced`)
  } finally {
    const problem = end(writer)
    if (problem !== undefined) {
      // stdout may have the result of the verb, which succeeded: only the exit code can report the failure.
      output.error(errorLines(errorText(problem, output.invocation)))
      if (session.exitCode === EXIT.ok) session.exitCode = EXIT[problem.category]
    } else if (path !== undefined) output.note(`Traced ${plural(count, 'event')} into ${printable(path)}`)
  }
}

/** Returns why there is no trace. */
function end(writer: EventWriter): GpuNvmeError | undefined {
  try {
    writer.end()
    return undefined
  } catch (error) {
    if (error instanceof GpuNvmeError) return error
    throw error
  }
}

/** @throws UsageError for words that lead to no verb, or to this one. */
function checkTraced(place: Command, words: readonly string[]): void {
  const named = wordsOf(place)
  const help = { command: ['help', ...named], note: 'which lists the verbs' }
  if (place.name() === 'trace')
    throw new UsageError('trace cannot trace itself', { next: { ...help, command: ['help'] } })
  if (isVerb(place)) return
  const unknown = words.filter((word) => !word.startsWith('-'))[named.length]
  if (unknown !== undefined) throw unknownCommand(place, unknown, ['nvme', 'trace'])
  throw new UsageError('No verb to trace', { next: help })
}

/** Runs the verb as the program does, except for errors of the trace. */
async function call(program: Command, words: readonly string[]): Promise<void> {
  try {
    await parse(program, words)
  } catch (error) {
    if (error instanceof EngineUnsuitableError)
      throw new ToolsError('ERR_GPUNVME_UNTRACEABLE_ENGINE', 'infeasible', 'Only the host engine can be traced', {
        facts: ['other engines write doorbells directly, bypassing the transport'],
        next: 'use --engine host, or run the verb without trace',
        cause: error,
      })
    throw error
  }
}
