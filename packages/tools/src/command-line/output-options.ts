import type { Command } from 'commander'

/** Adds the options that all verbs have. */
export function addOutputOptions(command: Command): void {
  command
    .option('--json', 'print the result as one JSON object')
    .option('-q, --quiet', 'suppress notes and progress')
    .helpOption('-h, --help', 'print this help')
}
