import { readdir, readFile } from 'node:fs/promises'
import { programOf, verbNames } from '../command-line/place.js'
import { UsageError } from '../command-line/tools-error.js'
import { verb, type Context } from '../command-line/verb.js'
import type { Output, OutputOptions } from '../terminal/output.js'
import { printable } from '../terminal/printable.js'
import { formatTable } from '../terminal/table.js'

/** JSON Schemas of all results, made by scripts/build-schemas.mjs. */
const FOLDER = new URL('../../schemas/', import.meta.url)

const ABOUT = `
Prints the JSON Schema (draft 2020-12) of what VERB prints with --json. If a
verb has several result types, the schema accepts any of them. Without VERB,
lists the schemas. 'gpunvme schema error' prints the schema of errors.`

export const schema = verb({
  options(command) {
    command.argument('[verb...]', 'verb, such as nvme smart, or error')
  },
  about: ABOUT,
  examples: ['gpunvme schema', 'gpunvme schema nvme smart', 'gpunvme schema --json'],
  run: (words: string[], _flags: OutputOptions, { output, command }: Context) =>
    run(words, verbNames(programOf(command)), output),
})

async function run(words: readonly string[], verbs: readonly string[], output: Output): Promise<void> {
  const files = (await readdir(FOLDER)).sort()
  if (words.length === 0) {
    const rows = ['error', ...verbs]
      .map((verb) => ({ verb, schemas: filesOf(verb, files).map(nameOf) }))
      // trace prints the result of another verb.
      .filter(({ schemas }) => schemas.length > 0)
    output.print(
      formatTable(
        [{ title: 'VERB' }, { title: 'SCHEMAS' }],
        rows.map(({ verb, schemas }) => [verb, schemas.join(', ')]),
      ),
    )
    output.object('gpunvme.schema/1', { verbs: rows })
    return
  }
  const typed = words.join(' ')
  const verb = ['error', ...verbs].find((name) => name === typed || name.endsWith(` ${typed}`))
  const own = verb === undefined ? [] : filesOf(verb, files)
  if (own.length === 0) {
    throw new UsageError(`No schema for '${printable(typed)}'`, {
      next: { command: ['schema'], note: 'which lists the available schemas' },
    })
  }
  const schemas = await Promise.all(
    own.map(async (file) => JSON.parse(await readFile(new URL(file, FOLDER), 'utf8')) as object),
  )
  const [first] = schemas
  const whole = schemas.length === 1 ? first : { $schema: DRAFT, anyOf: schemas }
  output.verbatim(JSON.stringify(whole, undefined, 2))
  output.object('gpunvme.schema/1', { verbs: [{ verb, schemas: own.map(nameOf) }], definition: whole })
}

const DRAFT = 'https://json-schema.org/draft/2020-12/schema'

/** Returns the files of a verb's results: 'pack-1.json', 'pack-plan-1.json'. */
function filesOf(verb: string, files: readonly string[]): string[] {
  const last = verb.split(' ').at(-1)!
  return files.filter((file) => new RegExp(`^${last}(?:[-.][a-z-]+)?-\\d+\\.json$`).test(file))
}

/** Returns the name of the schema in a file: 'gpunvme.pack-plan/1'. */
function nameOf(file: string): string {
  return `gpunvme.${file.replace(/-(\d+)\.json$/, '/$1')}`
}
