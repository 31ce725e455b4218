// Plants bugs in a copy of the repository, one at a time, and checks that tests catch them: README.md.
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Copy, removeStaleCopies } from './copy.mjs'
import { judge, runTests, stopTests } from './judge.mjs'
import { readRows, selectRows, tierOf } from './rows.mjs'

const { values: flags } = parseArgs({
  options: {
    only: { type: 'string' },
    shard: { type: 'string' },
    list: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
})
const root = join(import.meta.dirname, '../..')
// With --json, progress goes to stderr.
const print = flags.json ? console.error : console.log

const rows = select()
if (flags.list) {
  for (const row of rows) print(`${row.id}  [${tierOf(row)}]  ${row.what}`)
  process.exit()
}

removeStaleCopies()
const copy = new Copy(root)
process.on('exit', () => {
  stopTests()
  copy.remove()
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => process.exit(1))
copy.make()

if (rows.some(({ build }) => build === 'addon')) {
  const failure = copy.build('addon')
  if (failure !== undefined) throw new Error(failure)
}

// A test that fails without a bug would appear to catch every bug.
const baselines = new Map()
const runs = rows.flatMap(({ caughtBy, test }) => caughtBy.map((file) => ({ file, test })))
const distinct = new Map(runs.map((each) => [JSON.stringify(each), each])).values()
for (const { file, test } of distinct) {
  const { ms, error, failed, passed } = await runTests(copy.root, file, { test })
  const problem = error ?? (failed.length > 0 ? `${failed[0].name}\n${failed[0].says}` : undefined)
  if (problem !== undefined) throw new Error(`${file} fails without a planted bug: ${problem}`)
  print(`baseline   ${file}${test === undefined ? '' : ` (${test})`}: ${passed.length} passed, ${seconds(ms)}`)
  baselines.set(file, Math.max(ms, baselines.get(file) ?? 0))
}

const results = []
for (const row of rows) {
  const startMs = performance.now()
  const broken = copy.plant(row)
  const { verdict, by } =
    broken === undefined ? await judge(copy.root, row, baselines) : { verdict: notBuilt(row, broken), by: broken }
  copy.restore(row)
  const ms = performance.now() - startMs
  results.push({ id: row.id, what: row.what, tier: tierOf(row), verdict, by, seconds: Math.round(ms / 100) / 10 })
  print(
    `${verdict.padEnd(9)}  ${row.id}: ${row.what} ${seconds(ms)}\n           ${by.split('\n').slice(0, 12).join('\n           ')}`,
  )
}

const count = (verdict) => results.filter((each) => each.verdict === verdict).length
const summary = `${count('caught')} of ${rows.length} caught, ${count('escaped')} escaped, ${count('error')} errors, ${count('skipped')} skipped`
print(summary)
if (flags.json) console.log(JSON.stringify({ summary, results }, null, 2))
process.exitCode = count('caught') + count('skipped') === rows.length ? 0 : 1

/** Returns the rows that the flags select. Ends the process if rows or flags are invalid. */
function select() {
  try {
    return selectRows(readRows(root), flags)
  } catch (error) {
    console.error(`mutants: ${error.message}`)
    process.exit(2)
  }
}

/** Returns the verdict on a failed build: `skipped` if the row names its needs and a compiler is missing. */
function notBuilt({ needs }, output) {
  return needs !== undefined && /not found|does not find|no headers|with nvcc/.test(output) ? 'skipped' : 'error'
}

function seconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`
}
