// Runs every package's benches, each in a process of its own, prints the figures beside their goals, and with
// --write puts the table into README.md between its markers. --json prints one object instead.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const root = join(import.meta.dirname, '..')
const flags = process.argv.slice(2)
const unknown = flags.filter((flag) => !['--json', '--write'].includes(flag))
if (unknown.length > 0) {
  console.error(`bench: unknown option ${unknown.join(' ')}; known are --json and --write`)
  process.exit(2)
}

const files = readdirSync(join(root, 'packages')).flatMap((name) => {
  const folder = join(root, 'packages', name, 'bench')
  return existsSync(folder)
    ? readdirSync(folder)
        .filter((file) => file.endsWith('.mjs'))
        .map((file) => join(folder, file))
    : []
})

/** A bench exports `bench()`: an array of { name, value, unit, goal?, met?, note? }, where a goal says whether it was met. */
function figuresOf(file) {
  const script = `const { bench } = await import(${JSON.stringify(pathToFileURL(file).href)}); console.log(JSON.stringify(await bench()))`
  const output = execFileSync(process.execPath, ['--expose-gc', '--input-type=module', '-e', script], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const figures = JSON.parse(output)
  for (const { name, value, goal, met } of figures) {
    const sound =
      typeof value === 'number' && (goal === undefined || (typeof goal === 'string' && typeof met === 'boolean'))
    if (!sound)
      throw new TypeError(`${file}: the figure ${JSON.stringify(name)} has no value, or a goal without a verdict`)
  }
  return figures
}

const figures = files.flatMap(figuresOf)
const machine = {
  cpu: cpus()[0].model.trim(),
  cores: cpus().length,
  memoryGiB: Math.round(totalmem() / 2 ** 30),
  node: process.version,
  kernel: release(),
  date: new Date().toISOString().slice(0, 10),
}

if (flags.includes('--json')) {
  console.log(JSON.stringify({ schema: 'gpunvme.bench/1', machine, figures }, null, 2))
} else {
  const cell = ({ value, unit }) => `${Number(value.toPrecision(3))} ${unit}`.trim()
  const where = `Measured with \`npm run bench\` on ${machine.date}: ${machine.cores} cores of ${machine.cpu}, ${machine.memoryGiB} GiB, Node ${machine.node.slice(1)}.`
  const table = [
    where,
    '',
    '| figure | measured | goal | |',
    '|---|---|---|---|',
    ...figures.map((figure) => `| ${figure.name} | ${cell(figure)} | ${figure.goal ?? ''} | ${figure.note ?? ''} |`),
  ].join('\n')
  console.log(table)
  if (flags.includes('--write')) {
    const path = join(root, 'README.md')
    const marked = /(<!-- bench -->\n)[\s\S]*?(<!-- \/bench -->)/
    const readme = readFileSync(path, 'utf8')
    if (!marked.test(readme)) throw new Error('README.md has no <!-- bench --> markers')
    writeFileSync(path, readme.replace(marked, `$1${table}\n$2`))
  }
}

const missed = figures.filter(({ met }) => met === false)
for (const { name, goal } of missed) console.error(`goal missed: ${name} (${goal})`)
process.exitCode = missed.length > 0 ? 1 : 0
