import type { Command } from 'commander'
import type { Verb } from './session.js'

/** Loads the verb of a command. */
type Loader = Verb['load']

/** Loaders of the commands that are verbs. */
const loaders = new WeakMap<Command, Loader>()

/** Makes a command a verb. */
export function setLoader(command: Command, load: Loader): void {
  loaders.set(command, load)
}

/** Returns the loader of a verb; undefined for other commands. */
export function loaderOf(command: Command): Loader | undefined {
  return loaders.get(command)
}

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
  return loaders.has(place)
}

/** Returns the words that lead to a command: 'nvme', 'read'. */
export function wordsOf(place: Command): string[] {
  return place.parent === null ? [] : [...wordsOf(place.parent), place.name()]
}

/** Returns the program that a command belongs to. */
export function programOf(place: Command): Command {
  return place.parent === null ? place : programOf(place.parent)
}

/** Returns the names of all verbs, in the order of the help: 'nvme read'. */
export function verbNames(program: Command): string[] {
  return commandsBelow(program)
    .filter(isVerb)
    .map((verb) => wordsOf(verb).join(' '))
}

/** Returns all commands below one, groups included. */
export function commandsBelow(place: Command): Command[] {
  return place.commands.flatMap((command) => [command, ...commandsBelow(command)])
}
