import type { Command } from 'commander'

/** Returns the command that words lead to, as far as they do. Options before a verb have no values. */
export function placeOf(program: Command, words: readonly string[]): Command {
  let place = program
  for (const word of words) {
    if (word.startsWith('-')) continue
    const next = place.commands.find((command) => command.name() === word)
    if (next === undefined) break
    place = next
  }
  return place
}

/** Returns the words that lead to a command: 'nvme', 'read'. */
export function wordsOf(place: Command): string[] {
  return place.parent === null ? [] : [...wordsOf(place.parent), place.name()]
}

/** Returns all commands below one, groups included. */
export function commandsBelow(place: Command): Command[] {
  return place.commands.flatMap((command) => [command, ...commandsBelow(command)])
}
