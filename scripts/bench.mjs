// Runs every package's benches, each in a process of its own, and prints the figures beside their goals.
//
//   npm run bench -- [--only PATTERN]                               exit status 1 if a goal is missed
//   npm run bench -- --write                                        update the table in docs/evidence/figures.md
//   npm run bench -- --against REV [--rounds N] [--only PATTERN]    print ratios to a revision: docs/how-to/bench.md
//
// PATTERN is a regular expression for PACKAGE/BENCH, such as nvme-spec/encode. --json prints one object instead.
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { compareWith, describe } from './bench/against.mjs'
import { commitOf } from './bench/revision.mjs'
import { benchFiles, figuresOf } from './bench/run.mjs'

const root = join(import.meta.dirname, '..')
const machine = {
  cpu: cpus()[0].model.trim(),
  cores: cpus().length,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  node: process.version,
  kernel: release(),
  date: new Date().toISOString().slice(0, 10),
}

const { flags, rounds, only } = parse()
const selects = ({ id }) => only.test(id)
if (!benchFiles(root).some(selects)) usage(`no bench matches ${only.source}`)
if (flags.against === undefined) runAll()
else await runAgainst()

function parse() {
  const options = {
    ...{ json: { type: 'boolean' }, write: { type: 'boolean' }, only: { type: 'string', default: '' } },
    ...{ against: { type: 'string' }, rounds: { type: 'string' } },
  }
  try {
    const flags = parseArgs({ options }).values
    const rounds = Number(flags.rounds ?? 5)
    if (!Number.isInteger(rounds) || rounds < 1)
      throw new Error(`invalid --rounds: expected 1 or more, got ${flags.rounds}`)
    if (flags.rounds !== undefined && flags.against === undefined) throw new Error('--rounds requires --against')
    if (flags.write && (flags.against !== undefined || flags.only !== ''))
      throw new Error('--write and --against or --only are mutually exclusive')
    return { flags, rounds, only: new RegExp(flags.only) }
  } catch (error) {
    return usage(error.message)
  }
}

function usage(message) {
  console.error(`bench: ${message}`)
  process.exit(2)
}

function runAll() {
  const figures = benchFiles(root)
    .filter(selects)
    .flatMap(({ name, file }) => figuresOf(join(root, 'packages', name, 'bench', file)))
  if (flags.json) console.log(JSON.stringify({ schema: 'gpunvme.bench/1', machine, figures }, null, 2))
  else printTable(figures)
  const missed = figures.filter(({ met }) => met === false)
  for (const { name, goal } of missed) console.error(`goal missed: ${name} (${goal})`)
  process.exitCode = missed.length > 0 ? 1 : 0
}

function printTable(figures) {
  const cell = ({ value, unit }) => `${Number(value.toPrecision(3))} ${unit}`.trim()
  const where = `Measured with \`npm run bench\` on ${machine.date}: ${machine.cores} cores of ${machine.cpu}, ${machine.memoryGiB} GiB, Node ${machine.node.slice(1)}.`
  const table = [
    where,
    '',
    '| figure | measured | goal | note |',
    '|---|---|---|---|',
    ...figures.map((figure) => `| ${figure.name} | ${cell(figure)} | ${figure.goal ?? ''} | ${figure.note ?? ''} |`),
  ].join('\n')
  console.log(table)
  if (flags.write) {
    const path = join(root, 'docs/evidence/figures.md')
    const marked = /(<!-- bench -->\n)[\s\S]*?(<!-- \/bench -->)/
    const readme = readFileSync(path, 'utf8')
    if (!marked.test(readme)) throw new Error('docs/evidence/figures.md has no <!-- bench --> markers')
    writeFileSync(path, readme.replace(marked, `$1${table}\n$2`))
  }
}

async function runAgainst() {
  const commit = revision()
  const result = await compareWith(root, commit, { rounds, selects })
  if (flags.json) {
    const against = { revision: flags.against, commit }
    console.log(JSON.stringify({ schema: 'gpunvme.bench-against/1', machine, against, rounds, ...result }, null, 2))
  } else {
    console.log(`working tree against ${flags.against} (${commit.slice(0, 12)}), ${rounds} alternating rounds`)
    console.log('ratio: median (min..max) of the rounds, working tree / revision')
    console.log(describe(result))
  }
  process.exitCode = result.benches.some(({ failures }) => failures.length > 0) ? 1 : 0
}

function revision() {
  try {
    return commitOf(root, flags.against)
  } catch {
    return usage(`invalid --against: expected a git revision, got ${flags.against}`)
  }
}
