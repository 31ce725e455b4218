import { profiles } from '@gpunvme/nvme-sim'
import { registers } from '@gpunvme/nvme-spec'
import type { Argument, Command, Option } from 'commander'
import { BASELINES } from '../bench/baselines.js'
import { RW_WORDS } from '../bench/sweep-options.js'
import { TARGETS } from '../binding/driver-choice.js'
import { TRANSPORTS } from '../drive/transport-names.js'
import type { EngineName } from '../drive/by-name.js'
import { createProgram, loadVerb } from '../command-line/program.js'
import type { Session } from '../command-line/session.js'
import { EVENT_KINDS } from '../tracing/write-events.js'
import { commandsBelow, isVerb } from '../command-line/place.js'

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

/** A place in a command line, after a verb or the name of a group. */
export interface CompletedNode {
  /** '' for the program itself, 'nvme', 'nvme read'. */
  readonly path: string
  readonly options: readonly CompletedOption[]
  /** In order. The last one repeats if `repeats` is set. */
  readonly operands: readonly Completes[]
  readonly repeats: boolean
  /** Words that lead to another place. */
  readonly children: readonly { readonly name: string; readonly summary: string; readonly path: string }[]
}

const HELP: CompletedOption = { names: ['-h', '--help'], description: 'print this help', value: undefined }

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
  'models rm model': { kind: 'anything' },
  'nvme decode what': { kind: 'words', words: ['sqe', 'cqe', 'identify', 'log', ...registers.map(({ name }) => name)] },
}

/** Returns all places of the command line; loads all verbs. */
export async function completionTree(session: Session): Promise<CompletedNode[]> {
  const program = await createProgram(session, [])
  await Promise.all(
    commandsBelow(program)
      .filter(isVerb)
      .map((verb) => loadVerb(verb, session)),
  )
  const nodes = nodesOf(program, '')
  return nodes.flatMap((node) => {
    // Arguments after a traced verb belong to that verb.
    if (node.path === 'nvme trace') return [{ ...node, operands: [], children: nodes[0]!.children }]
    return node.path === 'help' ? nodes.flatMap(helpOf) : [node]
  })
}

/** Returns the place in a command line that asks for help where another one chooses between words. */
function helpOf({ path, children }: CompletedNode): CompletedNode[] {
  if (children.length === 0) return []
  const words = children
    .filter(({ name }) => name !== 'help')
    .map((child) => ({ ...child, path: `help ${child.path}` }))
  if (path === '') words.push({ name: 'drives', summary: 'options that select a drive', path: 'help drives' })
  return [{ path: pathTo('help', path), options: [HELP], operands: [], repeats: false, children: words }]
}

function nodesOf(command: Command, path: string): CompletedNode[] {
  return [nodeOf(command, path), ...command.commands.flatMap((child) => nodesOf(child, pathTo(path, child.name())))]
}

function pathTo(path: string, name: string): string {
  return `${path} ${name}`.trim()
}

function nodeOf(command: Command, path: string): CompletedNode {
  const { options, registeredArguments: operands } = command
  return {
    path,
    options: [...options.map(optionOf), HELP],
    operands: operands.map((operand) => OPERANDS[`${path} ${operand.name()}`] ?? operandOf(operand)),
    repeats: operands.at(-1)?.variadic ?? false,
    children: command.commands.map((child) => ({
      name: child.name(),
      summary: briefly(child.summary() || child.description()),
      path: pathTo(path, child.name()),
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
