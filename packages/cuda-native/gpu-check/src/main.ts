// The program: `node main.js [--report FILE] [--quick] [--only ID[,ID…]] [--device N] [--bdf BDF] [--limit SECONDS]`.
//
// The checks run in a process of their own. Whatever happens to it - a crash in native code, a driver call that does not
// come back - this one is left, ends it in time, and says so in the report that stands on disk.
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { checks, conclusion, FULL, headline, lineOf, QUICK, runChecks, writeReport, type Report } from './index.js'

/** Exit statuses: a machine without a GPU is no failure of ours, and no success. */
const PASSED = 0
const FAILED = 1
const USAGE = 2
const NO_GPU = 3

const usage =
  'usage: gpu-check [--report FILE] [--quick] [--only ID,ID] [--device N] [--bdf 0000:0b:00.0] [--limit SECONDS]'
const say = (text: string) => process.stdout.write(`${text}\n`)

const options = {
  report: { type: 'string' },
  quick: { type: 'boolean' },
  only: { type: 'string' },
  device: { type: 'string', default: '0' },
  bdf: { type: 'string' },
  limit: { type: 'string', default: '540' },
  child: { type: 'boolean' },
} as const

function parse() {
  try {
    const { values } = parseArgs({ options })
    const only = values.only?.split(',')
    const unknown = only?.filter((id) => !checks.some((check) => check.id === id)) ?? []
    if (unknown.length > 0) throw new TypeError(`no check is called ${unknown.join(', ')}`)
    if (!/^\d+$/.test(values.device)) throw new TypeError(`--device: expected a number, got ${values.device}`)
    if (!(Number(values.limit) > 0)) throw new TypeError(`--limit: expected seconds, got ${values.limit}`)
    return { ...values, chosen: only === undefined ? checks : checks.filter(({ id }) => only.includes(id)) }
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${usage}\n`)
    process.exit(USAGE)
  }
}

async function child(reportFile: string): Promise<number> {
  const report = await runChecks({
    ...{ reportFile, checks: given.chosen, scale: given.quick === true ? QUICK : FULL },
    ...{ device: Number(given.device), nvmeFunction: given.bdf },
    onResult: (result) => say(lineOf(result)),
  })
  return report.outcome === 'passed' ? PASSED : report.outcome === 'no-gpu' ? NO_GPU : FAILED
}

/** Runs the checks in another process, and is there when that is not any more. */
async function parent(reportFile: string): Promise<number> {
  const limitMs = 1000 * Number(given.limit)
  const file = fileURLToPath(import.meta.url)
  const started = spawn(
    process.execPath,
    [...process.execArgv, file, ...process.argv.slice(2), '--child', '--report', reportFile],
    {
      stdio: 'inherit',
    },
  )
  let ended: string | undefined
  const timer = setTimeout(() => {
    ended = `ended after ${given.limit} s, which is the limit`
    started.kill('SIGKILL')
  }, limitMs)
  const status = await new Promise<number | null>((done) => {
    started.on('close', (code, signal) => {
      if (signal !== null) ended ??= `ended by ${signal}`
      done(code)
    })
  })
  clearTimeout(timer)
  let report: Report
  try {
    report = JSON.parse(readFileSync(reportFile, 'utf8')) as Report
  } catch {
    say(`no report was written; the checks ended with ${status ?? ended ?? 'nothing'}`)
    return FAILED
  }
  if (report.outcome === 'unfinished') {
    report = { ...report, outcome: 'failed', ended: ended ?? `ended with status ${status ?? 'unknown'}` }
    writeReport(reportFile, report)
    say(lineOf(report.checks.at(-1) ?? { id: 'none', title: '', verdict: 'error', facts: {}, durationMs: 0 }))
  }
  say(`\n${headline(report)}\n${conclusion(report)}`)
  return report.outcome === 'passed' ? PASSED : report.outcome === 'no-gpu' ? NO_GPU : FAILED
}

const given = parse()
if (given.child === true) {
  process.exit(await child(given.report!))
} else {
  const scratch = given.report === undefined ? mkdtempSync(join(tmpdir(), 'gpunvme-gpu-check-')) : undefined
  const status = await parent(resolve(given.report ?? join(scratch!, 'report.json')))
  if (scratch !== undefined) rmSync(scratch, { recursive: true, force: true })
  else say(`report: ${resolve(given.report!)}`)
  process.exitCode = status
}
