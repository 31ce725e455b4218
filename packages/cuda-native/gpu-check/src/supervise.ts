import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Check } from './check.js'
import { UNDER_WAY, writeReport, type Report } from './report.js'
import { RELEASE_MS } from './run-checks.js'

/** A process that runs checks, and what it may take. */
export interface Supervised {
  /** Command and arguments; what it does not finish is asked of another one, with `--resume`. */
  readonly command: readonly string[]
  readonly checks: readonly Check[]
  readonly reportFile: string
  /** For all of it. */
  readonly limitMs: number
  /** Milliseconds beyond the time limits of a check and its clean-up, which the process itself enforces. 10 s by default. */
  readonly graceMs?: number
}

const LOOK_MS = 200
const GRACE_MS = 10_000
/** What ending may take once the report is complete. */
const END_MS = 5_000

/**
 * Runs checks in a process of their own until the report is complete. Whatever happens there - a crash in native code, a
 * call of the driver that does not come back, an error after which the driver answers nothing else - costs one check: the
 * others are run by the next process, as is one that is to be alone. Gives the report,
 * or undefined where none was written.
 */
export async function supervise(supervised: Supervised): Promise<Report | undefined> {
  const { command, checks, reportFile, limitMs, graceMs = GRACE_MS } = supervised
  const untilMs = performance.now() + limitMs
  for (let resume = false; ; resume = true) {
    const before = readReport(reportFile)?.checks.length ?? 0
    const ended = await runOnce(
      [...command, ...(resume ? ['--resume'] : [])],
      new Silence(checks, performance.now(), graceMs),
      reportFile,
      untilMs,
    )
    const report = readReport(reportFile)
    if (report === undefined || report.outcome !== 'unfinished') return report
    const isOver = performance.now() >= untilMs
    const whole = withReason(report, ended)
    // One that ends before it comes to a check would do so for ever.
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

/** For how long a report has said nothing new, and whether what is under way may take as long. */
export class Silence {
  readonly #checks: readonly Check[]
  readonly #graceMs: number
  #seen = ''
  #sinceMs: number

  constructor(checks: readonly Check[], nowMs: number, graceMs = GRACE_MS) {
    this.#checks = checks
    this.#graceMs = graceMs
    this.#sinceMs = nowMs
  }

  isTooLong(report: Report | undefined, nowMs: number): boolean {
    const running = report?.checks.at(-1)
    const isUnderWay = running === undefined || running.reason === UNDER_WAY
    // That a check has ended is news too: from then on the process has its time to end.
    const now = `${report?.checks.length} ${isUnderWay} ${report?.endedAt}`
    if (now !== this.#seen) this.#sinceMs = nowMs
    this.#seen = now
    const check = this.#checks.find(({ id }) => id === running?.id)
    // One that is alone leaves nothing for others: what it has made goes with its process.
    const releaseMs = check?.alone === true ? 0 : RELEASE_MS
    const patienceMs = isUnderWay && !report?.endedAt ? (check?.limitMs ?? 60_000) + releaseMs + this.#graceMs : END_MS
    return nowMs - this.#sinceMs >= patienceMs
  }
}

/** The check that was under way has ended with the process, and why. */
function withReason(report: Report, reason: string): Report {
  const running = report.checks.at(-1)
  if (running?.reason !== UNDER_WAY) return report
  return { ...report, checks: [...report.checks.slice(0, -1), { ...running, reason: `the process was ${reason}` }] }
}

/** How the process has ended, in words. */
async function runOnce(
  [program, ...args]: readonly string[],
  silence: Silence,
  reportFile: string,
  untilMs: number,
): Promise<string> {
  const child = spawn(program!, args, { stdio: 'inherit' })
  let ended: string | undefined
  child.on('error', (error) => (ended ??= `not started: ${error.message}`))
  child.on('exit', (code, signal) => (ended ??= signal === null ? `over with status ${code}` : `ended by ${signal}`))
  const isOver = () => ended !== undefined
  while (!isOver()) {
    await sleep(LOOK_MS)
    const why =
      performance.now() >= untilMs
        ? 'ended at the limit of all checks together'
        : silence.isTooLong(readReport(reportFile), performance.now())
          ? 'ended, as it did nothing any more'
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
