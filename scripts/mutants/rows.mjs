// Reads, validates and selects the rows of planted bugs. README.md describes their fields.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isIn } from '../tiers.mjs'

const fields = ['id', 'what', 'file', 'from', 'to', 'caughtBy', 'test', 'says', 'build', 'needs']
const required = fields.slice(0, 6)
const builds = [undefined, 'addon', 'ptx']

/** Returns all rows, in the order of their files. Throws an error that lists all invalid rows. */
export function readRows(root) {
  const names = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.json'))
  const rows = names.sort().flatMap((name) => JSON.parse(readFileSync(join(import.meta.dirname, name), 'utf8')))
  const ids = rows.map(({ id }) => id)
  const problems = rows.flatMap((row, index) => [
    ...(ids.indexOf(row.id) === index ? [] : [`${row.id}: duplicate id`]),
    ...problemsOf(root, row).map((problem) => `${row.id}: ${problem}`),
  ])
  if (problems.length > 0) throw new Error(problems.join('\n'))
  return rows
}

function problemsOf(root, row) {
  const unknown = Object.keys(row).filter((name) => !fields.includes(name))
  const missing = required.filter((name) => row[name] === undefined)
  if (unknown.length + missing.length > 0) return [`unknown fields [${unknown}], missing fields [${missing}]`]
  const problems = builds.includes(row.build) ? [] : [`build is ${row.build}; expected addon or ptx`]
  if (row.caughtBy.length === 0) problems.push('caughtBy is empty')
  for (const file of row.caughtBy) if (!existsSync(join(root, file))) problems.push(`no test file ${file}`)
  if (row.from === row.to) problems.push('from equals to')
  if (!existsSync(join(root, row.file))) return [...problems, `no file ${row.file}`]
  const count = readFileSync(join(root, row.file), 'utf8').split(row.from).length - 1
  if (count !== 1) problems.push(`expected \`from\` once in ${row.file}, found ${count} times`)
  return problems
}

/**
 * Returns the cheapest tier that runs all tests of `caughtBy`: `unit`, `test`, or a list that `npm test` leaves out.
 */
export function tierOf({ caughtBy }) {
  const isAnyIn = (...lists) => caughtBy.some((file) => isIn(file, ...lists))
  if (isAnyIn('slow')) return 'slow'
  if (isAnyIn('heavy')) return 'heavy'
  return isAnyIn('processes', 'native', 'long', 'alone') ? 'test' : 'unit'
}

/** Returns the rows that `only` names, by default all, and of these the part `shard` ("1/4"). */
export function selectRows(rows, { only, shard }) {
  const names = only?.split(',')
  const unknown = names?.filter((name) => !rows.some(({ id }) => id === name)) ?? []
  if (unknown.length > 0) throw new Error(`no row with the id ${unknown.join(', ')}; --list prints all ids`)
  const selected = names === undefined ? rows : rows.filter(({ id }) => names.includes(id))
  if (shard === undefined) return selected
  const [index, count] = (/^(\d+)\/(\d+)$/.exec(shard) ?? []).slice(1).map(Number)
  if (!(index >= 1 && index <= count)) throw new Error(`invalid --shard: expected N/M with 1 <= N <= M, got ${shard}`)
  return selected.filter((_, position) => position % count === index - 1)
}
