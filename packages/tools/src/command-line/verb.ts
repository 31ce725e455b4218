import type { Command } from 'commander'
import type { ConfigureVerb, Session } from './session.js'
import { Output, type OutputOptions } from '../terminal/output.js'
import { addExamples, addOutputOptions } from './options.js'

/** Runtime context of a verb. */
export interface Context {
  readonly output: Output
  /** Aborted by SIGINT, SIGTERM and SIGHUP. */
  readonly signal: AbortSignal
  readonly session: Session
  /** The verb as it was parsed, for options that exclude each other. */
  readonly command: Command
}

/** Requirements of verbs on the machine and the drive, as their help states them. */
const NEEDS = {
  root: 'Needs root, except with --dry-run.',
  admin: `Read-only. A drive bound to Linux's nvme driver, mounted or not, is queried
through that driver (/dev/nvme0, as root). A drive bound to user space is reset
and brought up first; nothing is written to its media.`,
  reader: 'Read-only. A real drive must be bound to user space: see gpunvme bind.',
  writer: `Writes to the drive. A real drive must be bound to user space: see gpunvme bind.
Its serial number must be confirmed.`,
} as const

/** Declaration of a verb; verbs.ts has its name and summary, which the help needs without loading it. */
export interface Declaration<Arguments extends readonly unknown[]> {
  /** Adds arguments and options. All verbs have --json, --quiet and --help. */
  readonly options?: (command: Command) => void
  /** Requirements of the verb, printed after the options. */
  readonly needs?: keyof typeof NEEDS
  /** Explanations, printed after the requirements. */
  readonly about?: string
  /** Whole commands, printed at the end. A test runs each of them. */
  readonly examples: readonly string[]
  /** Runs the verb with its arguments, its flags and the context. */
  readonly run: (...given: Arguments) => Promise<void>
}

/** Declares a verb. */
export function verb<Arguments extends readonly [...unknown[], Context]>({
  options,
  needs,
  about,
  examples,
  run,
}: Declaration<Arguments>): ConfigureVerb {
  return (command, session) => {
    options?.(command)
    addOutputOptions(command)
    if (needs !== undefined) command.addHelpText('after', `\n${NEEDS[needs]}`)
    if (about !== undefined) command.addHelpText('after', about)
    addExamples(command, examples)
    // The parser appends the verb itself.
    command.action((...given: [...unknown[], OutputOptions, Command]) => {
      const flags = given.at(-2) as OutputOptions
      const { io, argv, signal } = session
      const context: Context = { output: new Output(flags, io, argv), signal, session, command }
      // The parser's types do not know what `options` declared; `Arguments` repeats it.
      const values = (given as unknown[]).with(-1, context) as unknown as Arguments
      // oxlint-disable-next-line gpunvme/no-unbounded-spread -- as many as the verb has arguments
      return run(...values)
    })
  }
}
