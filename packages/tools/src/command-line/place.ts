import type { Command } from 'commander'
import { VERBS } from '../verbs.js'

/**
 * Returns the deepest command that the words name. Options before a verb have no values; those of a verb may, so its
 * options end the search: in `bench -o report`, report is a file.
 */
export function placeOf(program: Command, words: readonly string[]): Command {
  let place = program
  for (const word of words) {
    if (word.startsWith('-') && isVerb(place)) break
    if (word.startsWith('-')) continue
    const next = place.commands.find((command) => command.name() === word)
    if (next === undefined) break
    place = next
  }
  return place
}

/** Returns whether a command does something without a further verb. */
export function isVerb(place: Command): boolean {
  const name = wordsOf(place).join(' ')
  return VERBS.some((verb) => verb.name === name)
}

/** Returns the words that lead to a command: 'nvme', 'read'. */
export function wordsOf(place: Command): string[] {
  return place.parent === null ? [] : [...wordsOf(place.parent), place.name()]
}

/** Returns all commands below one, groups included. */
export function commandsBelow(place: Command): Command[] {
  return place.commands.flatMap((command) => [command, ...commandsBelow(command)])
}
