// The program: `node main.js [--report FILE] [--quick] [--only ID[,ID…]] [--device N] [--bdf BDF [--ring]]
// [--limit SECONDS]`.
//
// The checks run in a child process. If it crashes in native code, hangs in a driver call, or gets an error that persists in
// the process, this process starts another one for the remaining checks.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { checks, conclusion, FULL, headline, lineOf, QUICK, readReport, runChecks, supervise } from './index.js'
import type { Report } from './index.js'

/** Exit statuses. A machine without a GPU is neither a success nor a failure. */
const PASSED = 0
const FAILED = 1
const USAGE = 2
const NO_GPU = 3

const usage =
  'usage: gpu-check [--report FILE] [--quick] [--only ID,ID] [--device N] [--bdf 0000:0b:00.0 [--ring]] [--limit SECONDS]'
const say = (text: string) => process.stdout.write(`${text}\n`)
// The reader of stdout may exit early. The checks continue, since the report is the result.
process.stdout.on('error', () => undefined)

const options = {
  report: { type: 'string' },
  quick: { type: 'boolean' },
  only: { type: 'string' },
  device: { type: 'string', default: '0' },
  bdf: { type: 'string' },
  ring: { type: 'boolean' },
  limit: { type: 'string', default: '540' },
  child: { type: 'boolean' },
  resume: { type: 'boolean' },
} as const

function parse() {
  try {
    const { values } = parseArgs({ options })
    const only = values.only?.split(',')
    const unknown = only?.filter((id) => !checks.some((check) => check.id === id)) ?? []
    if (unknown.length > 0) throw new TypeError(`--only: unknown check ${unknown.join(', ')}`)
    if (!/^\d+$/.test(values.device)) throw new TypeError(`--device: expected a number, got ${values.device}`)
    if (values.ring === true && values.bdf === undefined) throw new TypeError('--ring requires --bdf')
    if (!(Number(values.limit) > 0)) throw new TypeError(`--limit: expected a number of seconds, got ${values.limit}`)
    return { ...values, chosen: only === undefined ? checks : checks.filter(({ id }) => only.includes(id)) }
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${usage}\n`)
    process.exit(USAGE)
  }
}

function statusOf(report: Report | undefined): number {
  return report?.outcome === 'passed' ? PASSED : report?.outcome === 'no-gpu' ? NO_GPU : FAILED
}

async function child(reportFile: string): Promise<number> {
  const report = await runChecks({
    ...{ reportFile, checks: given.chosen, scale: given.quick === true ? QUICK : FULL },
    ...{ device: Number(given.device), nvmeFunction: given.bdf, ring: given.ring },
    before: given.resume === true ? readReport(reportFile) : undefined,
    onResult: (result) => say(lineOf(result)),
  })
  return statusOf(report)
}

async function parent(reportFile: string): Promise<number> {
  // An existing file is the report of another run.
  rmSync(reportFile, { force: true })
  const own = [...process.execArgv, fileURLToPath(import.meta.url), ...process.argv.slice(2)]
  const report = await supervise({
    command: [process.execPath, ...own, '--child', '--report', reportFile],
    ...{ checks: given.chosen, reportFile, limitMs: 1000 * Number(given.limit) },
  })
  if (report === undefined) {
    say('no report was written')
    return FAILED
  }
  for (const result of report.checks) if (result.reason?.startsWith('the process ended: ') === true) say(lineOf(result))
  say(`\n${headline(report)}\n${conclusion(report)}`)
  return statusOf(report)
}

const given = parse()
if (given.child === true) {
  const status = await child(given.report!)
  // Skips all exit handlers: after an error, the CUDA driver may be unable to shut down in this process.
  if (readReport(given.report!)?.outcome === 'unfinished') process.kill(process.pid, 'SIGKILL')
  process.exit(status)
} else {
  const scratch = mkdtempSync(join(tmpdir(), 'gpunvme-gpu-check-'))
  // Temporary files of killed processes are removed with this folder.
  process.env['TMPDIR'] = scratch
  const status = await parent(resolve(given.report ?? join(scratch, 'report.json')))
  rmSync(scratch, { recursive: true, force: true })
  if (given.report !== undefined) say(`report: ${resolve(given.report)}`)
  process.exitCode = status
}
