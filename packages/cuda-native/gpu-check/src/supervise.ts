import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Check } from './check.js'
import { UNDER_WAY, writeReport, type Report } from './report.js'
import { RELEASE_MS } from './run-checks.js'

/** A process that runs checks, and its time limits. */
export interface Supervised {
  /** Command and arguments. If a process does not finish, the next one gets `--resume`. */
  readonly command: readonly string[]
  readonly checks: readonly Check[]
  readonly reportFile: string
  /** Time limit for all checks together. */
  readonly limitMs: number
  /** Milliseconds beyond the time limits of a check and its clean-up, which the process itself enforces. 10 s by default. */
  readonly graceMs?: number
}

const POLL_MS = 200
const GRACE_MS = 10_000
/** Time limit for the end of the process, once the report is complete. */
const END_MS = 5_000

/**
 * Runs checks in child processes until the report is complete. A crash in native code, a driver call that does not return, or
 * an error after which every driver call fails costs only one check: the next process runs the others. A check that runs alone
 * also gets its own process. Returns the report, or undefined if none was written.
 */
export async function supervise(supervised: Supervised): Promise<Report | undefined> {
  const { command, checks, reportFile, limitMs, graceMs = GRACE_MS } = supervised
  const untilMs = performance.now() + limitMs
  for (let resume = false; ; resume = true) {
    const before = readReport(reportFile)?.checks.length ?? 0
    const ended = await runOnce(
      [...command, ...(resume ? ['--resume'] : [])],
      new Watchdog(checks, performance.now(), graceMs),
      reportFile,
      untilMs,
    )
    const report = readReport(reportFile)
    if (report === undefined || report.outcome !== 'unfinished') return report
    const isOver = performance.now() >= untilMs
    const whole = withReason(report, ended)
    // A process that ends before it starts a check would do so again.
    const isStuck = resume && whole.checks.length === before
    if (!isOver && !isStuck && whole.checks.length < checks.length) {
      writeReport(reportFile, whole)
      continue
    }
    const last: Report = { ...whole, outcome: 'failed', endedAt: new Date().toISOString(), ended }
    writeReport(reportFile, last)
    return last
  }
}

/** Measures how long a report has not changed, and compares that with the limit of the current check. */
export class Watchdog {
  readonly #checks: readonly Check[]
  readonly #graceMs: number
  #seen = ''
  #sinceMs: number

  constructor(checks: readonly Check[], nowMs: number, graceMs = GRACE_MS) {
    this.#checks = checks
    this.#graceMs = graceMs
    this.#sinceMs = nowMs
  }

  hasExpired(report: Report | undefined, nowMs: number): boolean {
    const running = report?.checks.at(-1)
    const isUnderWay = running === undefined || running.reason === UNDER_WAY
    // The end of a check is a change too: it starts the time limit for the end of the process.
    const now = `${report?.checks.length} ${isUnderWay} ${report?.endedAt}`
    if (now !== this.#seen) this.#sinceMs = nowMs
    this.#seen = now
    const check = this.#checks.find(({ id }) => id === running?.id)
    // A check that runs alone needs no clean-up: the end of its process releases everything.
    const releaseMs = check?.alone === true ? 0 : RELEASE_MS
    const allowedMs = isUnderWay && !report?.endedAt ? (check?.limitMs ?? 60_000) + releaseMs + this.#graceMs : END_MS
    return nowMs - this.#sinceMs >= allowedMs
  }
}

/** Replaces the reason of the check that was running when the process ended. */
function withReason(report: Report, reason: string): Report {
  const running = report.checks.at(-1)
  if (running?.reason !== UNDER_WAY) return report
  return { ...report, checks: [...report.checks.slice(0, -1), { ...running, reason: `the process ended: ${reason}` }] }
}

/** Runs the process. Returns a description of how it ended. */
async function runOnce(
  [program, ...args]: readonly string[],
  watchdog: Watchdog,
  reportFile: string,
  untilMs: number,
): Promise<string> {
  const child = spawn(program!, args, { stdio: 'inherit' })
  let ended: string | undefined
  child.on('error', (error) => (ended ??= `could not start: ${error.message}`))
  child.on('exit', (code, signal) => (ended ??= signal === null ? `exit status ${code}` : `signal ${signal}`))
  const isOver = () => ended !== undefined
  while (!isOver()) {
    await sleep(POLL_MS)
    const why =
      performance.now() >= untilMs
        ? 'killed at the time limit of all checks'
        : watchdog.hasExpired(readReport(reportFile), performance.now())
          ? 'killed because it made no progress'
          : undefined
    if (why === undefined || isOver()) continue
    ended = why
    child.kill('SIGKILL')
  }
  return ended!
}

export function readReport(path: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Report
  } catch {
    return undefined
  }
}
