import { profiles } from '@gpunvme/nvme-sim'
import { registers } from '@gpunvme/nvme-spec'
import { Command, type Argument, type Option } from 'commander'
import { BASELINES } from '../bench/baselines.js'
import { RW_WORDS } from '../bench/sweep-options.js'
import { TARGETS } from '../binding/driver-choice.js'
import { TRANSPORTS } from '../drive/transport-names.js'
import type { EngineName } from '../drive/by-name.js'
import type { Session } from '../program.js'
import { EVENT_KINDS } from '../tracing/write-events.js'
import { VERBS } from '../verbs.js'

/** Completions at a place. */
export type Completes =
  | { readonly kind: 'files' | 'folders' | 'drives' | 'anything' }
  | { readonly kind: 'words'; readonly words: readonly string[] }

export interface CompletedOption {
  /** For example '-o', '--output'. */
  readonly names: readonly string[]
  readonly description: string
  /** Undefined for an option without a value. */
  readonly value: Completes | undefined
}

/** A place in a command line, after a verb or a subcommand. */
export interface CompletedNode {
  /** '' for the program itself, 'read', 'driver plan'. */
  readonly path: string
  readonly options: readonly CompletedOption[]
  /** In order. The last one repeats if `repeats` is set. */
  readonly operands: readonly Completes[]
  readonly repeats: boolean
  /** Words that lead to another place. */
  readonly children: readonly { readonly name: string; readonly summary: string; readonly path: string }[]
}

const HELP: CompletedOption = { names: ['-h', '--help'], description: 'print this help', value: undefined }
const VERSION: CompletedOption = { names: ['-V', '--version'], description: 'print the version', value: undefined }

const ENGINES: readonly EngineName[] = ['host', 'cpu-kernel', 'cuda']

/** Values of options that the parser does not check by itself. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  '--transport': TRANSPORTS,
  '--profile': Object.keys(profiles),
  '--engine': ENGINES,
  '--only': EVENT_KINDS,
  '--rw': RW_WORDS,
  '--engines': ENGINES,
  '--baselines': BASELINES,
  '--to': Object.keys(TARGETS),
}

/** Completions for placeholders of values and operands: '<file>'. */
const KINDS: Readonly<Record<string, Completes['kind']>> = {
  ...{ file: 'files', files: 'files', model: 'files', trace: 'files', input: 'files', results: 'files', path: 'files' },
  ...{ dir: 'folders', directory: 'folders', folder: 'folders', root: 'folders' },
  ...{ drive: 'drives', address: 'drives' },
}

/** Completions of operands whose placeholder is not specific enough. */
const OPERANDS: Readonly<Record<string, Completes>> = {
  // The name of a model on a drive, not a file.
  'rm model': { kind: 'anything' },
  'decode what': { kind: 'words', words: ['sqe', 'cqe', 'identify', 'log', ...registers.map(({ name }) => name)] },
}

/** Returns all places of the command line; loads all verbs. */
export async function completionTree(session: Session): Promise<CompletedNode[]> {
  const verbs = VERBS.map(({ name, summary }) => ({ name, summary, path: name }))
  const help = { name: 'help', summary: 'explain a verb', path: 'help' }
  const names: Completes = { kind: 'words', words: verbs.map(({ name }) => name) }
  const loaded = await Promise.all(
    VERBS.map(async ({ name, load }) => {
      const command = new Command(name)
      const configure = await load()
      configure(command, session)
      // Arguments after a traced verb belong to that verb.
      return name === 'trace' ? [{ ...nodeOf(command, name), operands: [], children: verbs }] : nodesOf(command, name)
    }),
  )
  return [
    { path: '', options: [HELP, VERSION], operands: [], repeats: false, children: [...verbs, help] },
    ...loaded.flat(),
    { path: 'help', options: [HELP], operands: [names], repeats: false, children: [] },
  ]
}

function nodesOf(command: Command, path: string): CompletedNode[] {
  return [nodeOf(command, path), ...command.commands.flatMap((child) => nodesOf(child, `${path} ${child.name()}`))]
}

function nodeOf(command: Command, path: string): CompletedNode {
  const { options, registeredArguments: operands } = command
  return {
    path,
    options: [...options.filter(({ hidden }) => !hidden).map(optionOf), HELP],
    operands: operands.map((operand) => OPERANDS[`${path} ${operand.name()}`] ?? operandOf(operand)),
    repeats: operands.at(-1)?.variadic ?? false,
    children: command.commands.map((child) => ({
      name: child.name(),
      summary: briefly(child.description()),
      path: `${path} ${child.name()}`,
    })),
  }
}

function optionOf(option: Option): CompletedOption {
  const names = [option.short, option.long].filter((name) => name !== undefined)
  const [, placeholder] = /[<[]([^>\].]+)/.exec(option.flags) ?? []
  const words = option.argChoices ?? WORDS[option.long ?? '']
  return {
    names,
    description: briefly(option.description),
    value: placeholder === undefined ? undefined : completes(placeholder, words),
  }
}

function operandOf(operand: Argument): Completes {
  return completes(operand.name(), operand.argChoices)
}

function completes(placeholder: string, words: readonly string[] | undefined): Completes {
  if (words !== undefined) return { kind: 'words', words }
  const kind = KINDS[placeholder.toLowerCase()] ?? 'anything'
  return kind === 'words' ? { kind: 'anything' } : { kind }
}

/** Returns the first clause, since shells show one line. */
function briefly(description: string): string {
  return description.split(/; | \(|: |\n/)[0]!
}
