import type { Command, CommanderError } from 'commander'
import { printable } from '../terminal/printable.js'
import { nearest } from './nearest.js'
import { commandsBelow, placeOf, programOf, wordsOf } from './place.js'
import { UsageError } from './tools-error.js'

/** Words of other programs for what a verb shows: `git status`, `nvidia-smi topo`. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  ...{ status: ['list'], devices: ['list'], drives: ['list'], gpus: ['list'], show: ['list'], ls: ['list'] },
  ...{ topology: ['list', '--topology'], topo: ['list', '--topology'] },
  ...{ version: ['--version'] },
  ...{ 'models list': ['models', 'ls'], 'models remove': ['models', 'rm'], 'models delete': ['models', 'rm'] },
}

/** Converts an error of the parser to one with suggestions. */
export function parserError({ code, message }: CommanderError, program: Command, argv: readonly string[]): UsageError {
  const place = placeOf(program, argv)
  const [, quoted = ''] = /'(.*)'/s.exec(message) ?? []
  if (code === 'commander.unknownCommand') return unknownCommand(place, quoted)
  const [word = ''] = place.args
  if (code === 'commander.excessArguments' && place.commands.length > 0) return unknownCommand(place, word)
  const { headline, facts } = describe(message.replace(/^error: /, ''), place)
  return new UsageError(printable(headline), {
    facts: facts.map(printable),
    next: { command: ['help', ...wordsOf(place)] },
  })
}

interface Described {
  readonly headline: string
  readonly facts: readonly string[]
}

/** Rewords a message of the parser: what is wrong, then what was expected. */
function describe(message: string, place: Command): Described {
  const name = wordsOf(place).join(' ')
  const [, option, value = '', why = ''] = /^option '(.*?)' argument '(.*)' is invalid\. (.*)$/s.exec(message) ?? []
  if (option !== undefined) return invalid(longName(option), value, why)
  const [, given = '', argument, expected = ''] =
    /^command-argument value '(.*)' is invalid for argument '(.*?)'\. (.*)$/s.exec(message) ?? []
  if (argument !== undefined) return invalid(argument.toUpperCase(), given, expected)
  const [, bare] = /^option '(.*)' argument missing$/.exec(message) ?? []
  if (bare !== undefined) return { headline: `${longName(bare)} requires a value: ${bare}`, facts: [] }
  const [, missing] = /^missing required argument '(.*)'$/.exec(message) ?? []
  if (missing !== undefined) return { headline: `${name} requires the argument ${missing.toUpperCase()}`, facts: [] }
  const [, max, count] = /^too many arguments.* Expected (\d+) arguments? but got (\d+)/.exec(message) ?? []
  if (max !== undefined)
    return { headline: `Too many arguments: ${name} takes ${max === '0' ? 'none' : max}, got ${count}`, facts: [] }
  const [, unknown = ''] = /^unknown option '(.*)'$/s.exec(message) ?? []
  const headline = `${message.charAt(0).toUpperCase()}${message.slice(1)}`
  return { headline, facts: unknown === '' ? [] : optionFacts(place, unknown) }
}

function invalid(name: string, value: string, why: string): Described {
  const [, choices] = /^Allowed choices are (.*?)\.?$/.exec(why) ?? []
  const expected = choices === undefined ? why.replace(/\.$/, '') : `expected ${choices}`
  const all = choices?.split(', ') ?? []
  const near = nearest(value.toLowerCase(), all)
  return {
    headline: `Invalid ${name}: '${value}'`,
    facts: [
      `${expected.charAt(0).toLowerCase()}${expected.slice(1)}`,
      ...didYouMean(near.length < all.length ? near : []),
    ],
  }
}

/** Returns '--output' of '-o, --output <file>'. */
function longName(flags: string): string {
  return /--[\w-]+/.exec(flags)?.[0] ?? flags
}

function optionFacts(place: Command, typed: string): string[] {
  const names = place.options.flatMap(({ long }) => (long === undefined ? [] : [long.slice(2)]))
  const [, name = '', value] = /^--?([^=]*)(=.*)?/s.exec(typed) ?? []
  if (/^-[^-]$/.test(typed)) {
    const letters = [...place.options.map(({ short }) => short), '-h'].filter((short) => short !== undefined)
    return didYouMean(letters.filter((short) => short.toLowerCase() === typed.toLowerCase()))
  }
  const isKnown = typed.startsWith('--') && names.includes(name)
  if (isKnown && value !== undefined) return [`--${name} takes no value`]
  const near = isKnown ? [] : nearest(name, [...names, 'help'])
  if (near.length === 0 && (isKnown || place.commands.length > 0)) return ['put options after the verb they belong to']
  return didYouMean(near.map((each) => `--${each}`))
}

/**
 * @throws UsageError for options of a verb before another verb of its group: `bench --markdown report results.json`.
 */
export function refuseEarlyOptions(group: Command, verb: Command): void {
  const early = group.options.find(
    (option) =>
      group.getOptionValueSource(option.attributeName()) === 'cli' && !['--json', '--quiet'].includes(option.long!),
  )
  if (early !== undefined)
    throw new UsageError(`${early.long} must not precede the verb '${wordsOf(verb).join(' ')}'`, {
      facts: ['put options after the verb they belong to'],
      next: { command: ['help', ...wordsOf(verb)] },
    })
}

/**
 * Returns the error of a word that is no verb at this place.
 * @param before words that precede a verb where the word was found.
 */
export function unknownCommand(place: Command, word: string, before: readonly string[] = []): UsageError {
  const commands = commandsBelow(programOf(place))
  const typed = [...wordsOf(place), word].join(' ')
  const message = `Unknown command '${typed}'`
  const found = commands.filter((command) => command.name() === word).map(wordsOf)
  const known = Object.hasOwn(SYNONYMS, typed) ? [SYNONYMS[typed]!] : []
  const synonyms = known.length === 0 && found.length === 0 && Object.hasOwn(SYNONYMS, word) ? [SYNONYMS[word]!] : known
  const elsewhere = place.parent !== null && known.length > 0 ? known : [...synonyms, ...found]
  if (elsewhere.length > 0)
    return new UsageError(message, { next: elsewhere.map((words) => ({ command: [...before, ...words] })) })
  const names = commands.map((command) => command.name())
  const near = nearest(word.toLowerCase(), names)
  const meant = commands.filter((command) => near.includes(command.name())).map((command) => wordsOf(command).join(' '))
  return new UsageError(message, { facts: didYouMean(meant), next: { command: ['help', ...wordsOf(place)] } })
}

function didYouMean(words: readonly string[]): string[] {
  return words.length === 0 ? [] : [`Did you mean ${words.join(' or ')}?`]
}
