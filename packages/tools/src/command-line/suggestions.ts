import type { Command, CommanderError } from 'commander'
import { printable } from '../terminal/printable.js'
import { nearest } from './nearest.js'
import { commandsBelow, placeOf, wordsOf } from './place.js'
import { UsageError } from './usage-error.js'

/** Words of other programs for what a verb shows: `git status`, `nvidia-smi topo`. */
const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  ...{ status: ['list'], devices: ['list'], show: ['list'] },
  ...{ topology: ['list', '--topology'], topo: ['list', '--topology'] },
}

/** Converts an error of the parser to one with suggestions. */
export function parserError({ code, message }: CommanderError, program: Command, argv: readonly string[]): UsageError {
  const place = placeOf(program, argv)
  const [, quoted = ''] = /'(.*)'/s.exec(message) ?? []
  if (code === 'commander.unknownCommand') return unknownCommand(place, quoted)
  const [word = ''] = place.args
  if (code === 'commander.excessArguments' && place.commands.length > 0) return unknownCommand(place, word)
  const text = printable(message.replace(/^error: /, ''))
  return new UsageError(text.charAt(0).toUpperCase() + text.slice(1), {
    facts: code === 'commander.unknownOption' ? optionFacts(place, quoted) : [],
    next: { command: ['help', ...wordsOf(place)] },
  })
}

function optionFacts(place: Command, typed: string): string[] {
  const names = place.options.flatMap(({ long }) => (long === undefined ? [] : [long.slice(2)]))
  const [, dashes = '', name = ''] = /^(--?)([^=]*)/.exec(typed) ?? []
  const isEarly = dashes === '--' && names.includes(name)
  const near = isEarly ? [] : nearest(name, [...names, 'help'])
  if (near.length === 0 && (isEarly || place.commands.length > 0)) return ['options of a verb follow the verb']
  return didYouMean(near.map((each) => `--${each}`))
}

/** @throws UsageError for options of a verb before another verb of its group: `bench --markdown report results.json`. */
export function refuseEarlyOptions(group: Command, verb: Command): void {
  const early = group.options.find(
    (option) =>
      group.getOptionValueSource(option.attributeName()) === 'cli' && !['--json', '--quiet'].includes(option.long!),
  )
  if (early !== undefined)
    throw new UsageError(`${early.long} precedes the verb '${wordsOf(verb).join(' ')}'`, {
      facts: ['options of a verb follow the verb'],
      next: { command: ['help', ...wordsOf(verb)] },
    })
}

/**
 * Returns the error of a word that is no verb at this place.
 * @param before words that precede a verb where the word was found.
 */
export function unknownCommand(place: Command, word: string, before: readonly string[] = []): UsageError {
  let program = place
  while (program.parent !== null) program = program.parent
  const commands = commandsBelow(program)
  const message = `Unknown command '${[...wordsOf(place), word].join(' ')}'`
  const synonym = Object.hasOwn(SYNONYMS, word) ? [SYNONYMS[word]!] : []
  const elsewhere = [...commands.filter((command) => command.name() === word).map(wordsOf), ...synonym]
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
