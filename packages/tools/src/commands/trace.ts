import { EngineUnsuitableError } from '@gpunvme/cuda-native'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { TraceSink } from '@gpunvme/nvme-spec/transport'
import { CommanderError, InvalidArgumentError, Option, type Command } from 'commander'
import { sameFile } from '../block-io/same-file.js'
import { EXIT } from '../command-line/exit-codes.js'
import { examples } from '../command-line/options.js'
import { parserError } from '../command-line/report-error.js'
import { UsageError } from '../command-line/usage-error.js'
import { createProgram, type Session } from '../program.js'
import { Output } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { plural } from '../terminal/units.js'
import { traceInto } from '../tracing/active.js'
import { traceToFile, traceToStderr } from '../tracing/trace-output.js'
import { EVENT_KINDS, FORMATS, writeEvents, type EventWriter, type Format } from '../tracing/write-events.js'
import { VERBS } from '../verbs.js'
import { ToolsError } from '../command-line/tools-error.js'
import { errorLines, errorText } from '../command-line/error-text.js'

interface Flags {
  readonly format: Format
  readonly output?: string
  readonly only?: readonly string[]
  readonly quiet?: boolean
}

export function trace(command: Command, session: Session): void {
  command
    .argument('<verb>', 'a verb that accesses a controller')
    .argument('[arguments...]', 'arguments and options of that verb')
    .addOption(new Option('--format <name>', 'output format').choices(FORMATS).default('text'))
    .option('-o, --output <file>', 'write the trace to FILE (default: stderr)')
    .option('--only <kinds>', `kinds of events, separated by commas: ${EVENT_KINDS.join(', ')}`, kinds)
    .option('-q, --quiet', 'do not print the number of events')
    .helpOption('-h, --help', 'print this help')
    .passThroughOptions()
    .action((verb: string, words: string[], flags: Flags) => run([verb, ...words], flags, session))
  command.addHelpText(
    'after',
    `
Runs VERB and records what the host does with the drive: register accesses with
their fields, commands and completions decoded, doorbells, configuration space,
interrupts and resets. The output and exit code of VERB are unchanged; only the
time between accesses changes.

FILE is replaced atomically at the end, even if VERB fails or is interrupted;
memory use does not grow with the trace. A killed process leaves
.FILE.PID.partial beside it.

  text      one event per line, for reading and for diff
  jsonl     one JSON object per line, for programs and for gpunvme replay
  perfetto  for https://ui.perfetto.dev: commands as bars on a time line

Times are modelled for a simulated drive, otherwise wall time. If a verb opens
several drives, tracks of the second one are named '2: sq 1' and so on.
Doorbells rung by a GPU or by native threads are not seen: use --engine host.
Commands sent through Linux's own driver are not seen either.`,
  )
  examples(command, [
    'gpunvme trace identify --sim',
    'gpunvme trace --only commands read --sim --lba 8',
    'gpunvme trace --format jsonl -o t.jsonl -- read --image drive.img --lba 8',
    'gpunvme trace --format perfetto -o t.json load --image drive.img',
  ])
}

function kinds(text: string): string[] {
  const words = text.split(',').map((word) => word.trim())
  const unknown = words.find((word) => !EVENT_KINDS.includes(word))
  if (unknown !== undefined) throw new InvalidArgumentError(`Expected kinds from ${EVENT_KINDS.join(', ')}.`)
  return words
}

async function run(words: readonly string[], flags: Flags, session: Session): Promise<void> {
  const name = words[0]!
  if (name === 'trace' || !VERBS.some((verb) => verb.name === name)) {
    throw new UsageError(name === 'trace' ? 'trace cannot trace itself' : `Unknown verb '${printable(name)}'`, {
      next: { command: ['help'], note: 'which lists the verbs' },
    })
  }
  const output = new Output(flags, session.io)
  const { format, output: path, only } = flags
  if (path !== undefined && words.some((word) => sameFile(word.replace(/^--[^=]+=/, ''), path))) {
    throw new UsageError(`${printable(path)} is used by ${name} and would be overwritten`, {
      next: 'use another -o FILE',
    })
  }
  const makeWriter = (write: (text: string) => void) =>
    writeEvents(format, write, { ...(only && { only }), title: `gpunvme ${words.join(' ')}` })
  const writer = path === undefined ? traceToStderr(makeWriter, output) : traceToFile(path, makeWriter)
  let count = 0
  const counting: TraceSink = (event) => {
    count++
    writer.sink(event)
  }
  try {
    await traceInto(counting, () => call(words, session))
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

/** Runs the verb as the program does, except for errors of the trace. */
async function call(words: readonly string[], session: Session): Promise<void> {
  const program = await createProgram(session, words)
  try {
    await program.parseAsync(words, { from: 'user' })
  } catch (error) {
    const isHelp = error instanceof CommanderError && (error.exitCode === 0 || error.code === 'commander.help')
    if (error instanceof CommanderError && !isHelp) throw parserError(error, { command: ['help', words[0]!] })
    if (error instanceof EngineUnsuitableError) throw new UntraceableEngineError(error)
    throw error
  }
}

/** Error of an engine whose doorbells bypass the trace. */
export class UntraceableEngineError extends ToolsError {
  readonly code = 'ERR_GPUNVME_UNTRACEABLE_ENGINE'
  readonly category = 'infeasible'
  constructor(cause: EngineUnsuitableError) {
    super('Only the host engine can be traced', {
      facts: ['other engines write doorbells directly, bypassing the transport'],
      next: 'use --engine host, or run the verb without trace',
      cause,
    })
  }
}
