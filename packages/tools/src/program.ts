import { Command } from 'commander'
import { createRequire } from 'node:module'
import type { Io } from './terminal/io.js'
import { EXIT_HELP } from './command-line/exit-codes.js'
import { invocationOf } from './command-line/invocation.js'
import { renderStep, type NextStep } from './command-line/next-step.js'
import { UsageError } from './command-line/usage-error.js'
import { VERB_GROUPS, VERBS, type Verb } from './verbs.js'

/** State of one run of the command. Verbs keep state here or in local variables, never in a module. */
export interface Session {
  /** Arguments after the program's name. */
  readonly argv: readonly string[]
  readonly io: Io
  /** Aborted by SIGINT, SIGTERM and SIGHUP. */
  readonly signal: AbortSignal
  /** Exit code of a command with a result that still failed. */
  exitCode: number
}

const START: NextStep = [{ command: ['doctor'] }, { command: ['demo'], note: 'which needs no GPU and no drive' }]

/** Creates the program. Only the verb in `argv` is loaded; others are lines of the help. */
export async function createProgram(session: Session, argv: readonly string[]): Promise<Command> {
  const program = new Command('gpunvme')
    .description('Streams model weights from NVMe drives into GPU or host memory, every byte verified.')
    .usage('VERB [options]')
    .version(version(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    // In `trace VERB --option`, the option belongs to VERB.
    .enablePositionalOptions()
    .exitOverride()
    // cli.ts reports errors once and uniformly.
    .configureOutput({
      writeOut: (text) => void session.io.stdout.write(text),
      writeErr: (text) => void session.io.stderr.write(text),
      outputError: () => undefined,
    })
    .configureHelp({ helpWidth: 80, subcommandTerm: (command) => command.name() })
    .addHelpText('after', `\n${EXIT_HELP}\n\nStart with: ${renderStep(START, invocationOf(session.io))}`)
  for (const { title, verbs } of VERB_GROUPS) {
    for (const verb of verbs) addVerb(program, verb).helpGroup(`${title}:`)
  }
  addHelpVerb(program)
  await configureCalled(program, session, argv)
  return program
}

function addVerb(program: Command, { name, usage, summary }: Verb): Command {
  return program.command(name).usage(usage).description(summary)
}

/** The program itself has no options with values: the first word is the verb. */
async function configureCalled(program: Command, session: Session, argv: readonly string[]): Promise<void> {
  const words = argv.filter((argument) => !argument.startsWith('-'))
  const called = words[0] === 'help' ? words.slice(0, 2) : words.slice(0, 1)
  for (const name of called) {
    const verb = VERBS.find((candidate) => candidate.name === name)
    if (verb === undefined) continue
    const configure = await verb.load()
    configure(
      program.commands.find((command) => command.name() === name)!,
      session,
    )
  }
}

function addHelpVerb(program: Command): void {
  program
    .command('help')
    .usage('[VERB]')
    .description('print help for a verb')
    .helpOption('-h, --help', 'print this help')
    .argument('[verb]')
    .action((verb?: string) => {
      if (verb === undefined) return program.help()
      const names = program.commands.map((command) => command.name())
      const found = program.commands.find((command) => command.name() === verb)
      if (found === undefined) throw new UsageError(`Unknown verb '${verb}'`, { facts: [`verbs: ${names.join(', ')}`] })
      return found.help()
    })
}

function version(): string {
  const require = createRequire(import.meta.url)
  return (require('../package.json') as { version: string }).version
}
