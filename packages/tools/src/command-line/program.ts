import { Command, CommanderError } from 'commander'
import { createRequire } from 'node:module'
import { fitHelp, HELP_COLUMNS } from '../terminal/fit.js'
import type { Io, OutputStream } from '../terminal/io.js'
import { columnsOf, type OutputOptions } from '../terminal/output.js'
import { EXIT_HELP } from './exit-codes.js'
import { invocationOf } from '../terminal/invocation.js'
import { renderStep, type NextStep } from './next-step.js'
import { addOutputOptions } from './output-options.js'
import { isVerb, loaderOf, placeOf, setLoader, wordsOf } from './place.js'
import type { Session, Verb, VerbGroup } from './session.js'

const START: NextStep = [{ command: ['doctor'] }, { command: ['demo'], note: 'which needs no GPU and no drive' }]

/** Creates the program. Only the verb in `argv` is loaded; others are lines of the help. */
export async function createProgram(session: Session, argv: readonly string[]): Promise<Command> {
  const program = new Command('gpunvme')
    .description('Streams model weights from NVMe drives into GPU or host memory, every byte verified.')
    .usage('VERB [options]')
    .version(version(), '-V, --version', 'print the version')
    .helpCommand(false)
    .showSuggestionAfterError(false)
    // In `trace VERB --option`, the option belongs to VERB.
    .enablePositionalOptions()
    .exitOverride()
    // cli.ts reports errors once and uniformly.
    .configureOutput({
      writeOut: (text) => writeHelp(text, session.io.stdout, session.io),
      writeErr: (text) => writeHelp(text, session.io.stderr, session.io),
      outputError: () => undefined,
    })
    .configureHelp({
      helpWidth: Math.min(HELP_COLUMNS, columnsOf(session.io.stdout, session.io)),
      subcommandTerm: (command) => command.name(),
    })
    .addHelpText('after', `\n${EXIT_HELP}\n\nStart with: ${renderStep(START, invocationOf(session.io))}`)
  addOutputOptions(program)
  // Options before the verb apply to it.
  program.hook('preAction', (_program, verb) => {
    const given = verb.optsWithGlobals<OutputOptions>()
    for (const name of ['json', 'quiet'] as const) if (given[name] === true) verb.setOptionValue(name, true)
  })
  for (const { title, entries } of session.sections) {
    for (const entry of entries) addEntry(program, entry).helpGroup(`${title}:`)
  }
  addHelpVerb(program)
  await loadVerbOf(program, session, argv)
  return program
}

/**
 * Parses a command line, and runs its verb.
 * @throws UsageError for invalid arguments, with suggestions; CommanderError after the help or the version was printed.
 */
export async function parse(program: Command, argv: readonly string[]): Promise<void> {
  try {
    await program.parseAsync(argv, { from: 'user' })
  } catch (error) {
    const isPrinted = error instanceof CommanderError && (error.exitCode === 0 || error.code === 'commander.help')
    if (isPrinted || !(error instanceof CommanderError)) throw error
    const { parserError } = await import('./suggestions.js')
    throw parserError(error, program, argv)
  }
}

function writeHelp(text: string, stream: OutputStream, io: Io): void {
  stream.write(fitHelp(text, columnsOf(stream, io), invocationOf(io).program))
}

function addEntry(place: Command, entry: Verb | VerbGroup): Command {
  const command = place.command(entry.name)
  const own = 'verbs' in entry ? entry.alone : entry
  if (own !== undefined) setLoader(command, own.load)
  if (!('verbs' in entry)) return command.usage(entry.usage).description(entry.summary)
  const { summary, alone, verbs } = entry
  command
    .usage(alone?.usage ?? 'VERB [options]')
    .summary(`${summary}${alone === undefined ? ': ' : '; also '}${verbs.map(({ name }) => name).join(', ')}`)
    .description(summary)
    .helpCommand(false)
    .addHelpText('after', `\ngpunvme help ${entry.name} VERB explains a verb.`)
    .hook('preSubcommand', async (group, verb) => {
      if (alone !== undefined) (await import('./suggestions.js')).refuseEarlyOptions(group, verb)
    })
  // A verb adds these itself.
  if (alone === undefined) addOutputOptions(command)
  for (const verb of verbs) addEntry(command, verb)
  return command
}

/** Loads the verb of a command line, also of one that asks for its help, and the verbs that may follow its options. */
async function loadVerbOf(program: Command, session: Session, argv: readonly string[]): Promise<void> {
  const place = placeOf(program, argv)
  if (place.name() === 'help') return loadVerbOf(program, session, argv.slice(argv.indexOf('help') + 1))
  if (isVerb(place)) for (const command of [place, ...place.commands]) await loadVerb(command, session)
}

/** Adds arguments, options and the action to the command of a verb. */
export async function loadVerb(command: Command, session: Session): Promise<void> {
  const configure = await loaderOf(command)!()
  configure(command, session)
}

function addHelpVerb(program: Command): void {
  program
    .command('help')
    .usage('[VERB | drives]')
    .description('print help for a verb, or for the options that select a drive (help drives)')
    .helpOption('-h, --help', 'print this help')
    .argument('[verb...]')
    .action(async (words: string[]) => {
      if (/^drives?$/.test(words[0] ?? '')) return (await import('./drives-help.js')).drivesHelp(program).help()
      const place = placeOf(program, words)
      const unknown = words[wordsOf(place).length]
      // What follows a verb is an operand of it: `help driver plan`.
      if (unknown === undefined || place.commands.length === 0) return place.help()
      const { unknownCommand } = await import('./suggestions.js')
      throw unknownCommand(place, unknown, ['help'])
    })
}

/** Returns the version of this package. */
export function version(): string {
  const require = createRequire(import.meta.url)
  return (require('../../package.json') as { version: string }).version
}
