// Writes the table of figures in docs/evidence/hardware/README.md from the JSON reports beside it: for each GPU the
// newest value, and the range over all its reports.
//
//   node scripts/hardware-figures.mjs [--check]    --check writes nothing; fails if the table is out of date
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { formatText } from './format.mjs'

const folder = join(import.meta.dirname, '../docs/evidence/hardware')
const page = join(folder, 'README.md')

/** Title of a figure, its name in the reports, its unit, and the number of decimal places. */
const ROWS = [
  ['4 KiB reads per second by the engine, QD 32, one queue pair', 'engine-commands-per-second', '', 0],
  ["the same by the original's loop", 'original-commands-per-second', '', 0],
  ['**ratio of these two in one run**', 'engine-over-original', ' times', 1],
  ['cycles of a submission, alone', 'submit-cycles-batch-1', '', 0],
  ['cycles of a submission in a batch of 32', 'submit-cycles-batch-32', '', 0],
  ['cycles of an empty poll', 'empty-poll-cycles', '', 0],
  ['4 KiB reads per second by 32 leaders of the engine, QD 32 each', 'leaders-32-commands-per-second', '', 0],
  ['a plan of one read by the engine, from `execute()` to its result', 'plan-latency-host', ' µs', 0],
  ['reads per second by `gnv::Device`, 1 queue in GPU memory', 'drive-load-one-queue-kernel', '', 0],
  ['the same, up to 128 queues', 'drive-load-most-kernel', '', 0],
  ['reads per second by `gnv::Device`, 1 queue in host memory', 'drive-load-one-queue-CPU-threads', '', 0],
  ['the same, up to 128 queues', 'drive-load-most-CPU-threads', '', 0],
  ["`gnv::Device` to BaM's queue protocol, 1 queue in GPU memory", 'drive-load-ticket-ratio-1-queues', ' times', 1],
  ['the same, 128 queues', 'drive-load-ticket-ratio-128-queues', ' times', 1],
  ['`gnv::Array` of 8 GiB, cache of 1 GiB, pages of 64 KiB', 'drive-array-rate-65536', ' GB/s', 0],
  ['the same, pages of 4 KiB', 'drive-array-rate-4096', ' GB/s', 0],
  ['copies of host memory to the GPU', 'copy-to-gpu-rate', ' GB/s', 0],
  ['8 of 256 experts of a layer by `gnv::fetch`, simulated drive', 'expert-fetch-layer', ' µs', 0],
  ['the same by a loop through the host', 'expert-fetch-layer-through-host', ' µs', 0],
  ['**ratio of these two in one run**', 'expert-fetch-over-host', ' times', 1],
  ['CRC-32 of 256 MiB in GPU memory, chunks of 64 KiB, launch included', 'checksum-rate', ' GB/s', 0],
]

/** Values by GPU and figure, oldest first; the date of a GPU's latest report by GPU. */
const values = new Map()
const reports = readdirSync(folder)
  .filter((each) => each.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')))
  .sort((a, b) => a.startedAt.localeCompare(b.startedAt))
for (const { startedAt, cuda, figures } of reports) {
  const gpu = cuda.devices[0].name.replace('NVIDIA ', '')
  for (const figure of figures) {
    const key = `${gpu} ${figure.name}`
    values.set(gpu, startedAt.slice(0, 10))
    values.set(key, [...(values.get(key) ?? []), figure.value])
  }
}
const gpus = [...values].filter(([, each]) => typeof each === 'string')

const rows = ROWS.map(([title, name, unit, digits]) => {
  const cells = gpus.map(([gpu]) => cell(values.get(`${gpu} ${name}`) ?? [], unit, digits))
  return `| ${[title, ...cells].join(' | ')} |`
})
const head = `| latest report (range over all reports) | ${gpus.map(([gpu, date]) => `${gpu}, ${date}`).join(' | ')} |`
const table = [head, `|${'---|'.repeat(gpus.length + 1)}`, ...rows].join('\n')

const text = readFileSync(page, 'utf8')
const marked = /(<!-- figures: scripts\/hardware-figures.mjs -->\n)[^]*?(<!-- end of figures -->)/
if (!marked.test(text)) throw new Error(`${page} has no markers for the table`)
const made = await formatText(page, text.replace(marked, `$1\n${table}\n\n$2`))
if (process.argv.includes('--check')) {
  if (made !== text) {
    console.error('docs/evidence/hardware/README.md is out of date: run node scripts/hardware-figures.mjs')
    process.exitCode = 1
  }
} else writeFileSync(page, made)

function cell(all, unit, digits) {
  if (all.length === 0) return 'not measured'
  const shown = (value) =>
    value.toLocaleString('en-US', { maximumFractionDigits: digits, minimumFractionDigits: digits })
  const [min, max] = [Math.min(...all), Math.max(...all)].map(shown)
  return `${shown(all.at(-1))}${unit}${min === max ? '' : ` (${min} to ${max})`}`
}
