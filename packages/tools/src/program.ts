import { Command } from 'commander'
import { createRequire } from 'node:module'
import { decode } from './commands/decode.js'
import { demo } from './commands/demo.js'
import { identify } from './commands/identify.js'
import { inspect } from './commands/inspect.js'
import { load } from './commands/load.js'
import { ls } from './commands/ls.js'
import { pack } from './commands/pack.js'
import { regs } from './commands/regs.js'
import { rm } from './commands/rm.js'
import { verify } from './commands/verify.js'
import { EXIT_HELP } from './command-line/exit-codes.js'
import { UsageError } from './command-line/usage-error.js'

/** What a command shares with the process that runs it. */
export interface Session {
  /** Aborted by SIGINT, SIGTERM and SIGHUP. */
  readonly signal: AbortSignal
  /** For a command that has its result and still did not succeed. */
  exitCode: number
}

const VERBS = [demo, inspect, pack, ls, load, verify, rm, identify, regs, decode]

export function createProgram(session: Session): Command {
  const program = new Command('gpunvme')
    .description('Streams model weights from an NVMe drive, layer by layer, every tensor verified.')
    .usage('VERB [options]')
    .version(version(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .exitOverride()
    // cli.ts reports errors, once and in one form.
    .configureOutput({ outputError: () => undefined })
    .configureHelp({ helpWidth: 80, subcommandTerm: (command) => `${command.name()} ${command.usage()}`.trim() })
    .addHelpText('after', `\n${EXIT_HELP}\n\nStart with: gpunvme demo`)
  for (const verb of VERBS) verb(program, session)
  addHelpVerb(program)
  return program
}

function addHelpVerb(program: Command): void {
  program
    .command('help')
    .usage('[VERB]')
    .description('explain a verb')
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
