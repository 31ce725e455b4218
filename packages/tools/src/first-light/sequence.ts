import { EXIT } from '../command-line/exit-codes.js'
import { firstFailure } from '../command-line/first-failure.js'
import { describeError } from '../command-line/report-error.js'
import type { Output } from '../terminal/output.js'
import { printableLine, printableLines } from '../terminal/printable.js'
import { formatDuration } from '../terminal/units.js'
import type { Redactor } from './redact.js'
import { STEPS, type FirstLightReport, type StepEntry, type StepFacts, type StepName } from './report.js'

/** Thrown by a step that does not apply to this drive or machine. */
export class SkippedStep extends Error {
  readonly reason: string

  constructor(reason: string) {
    super(reason)
    this.reason = reason
  }
}

/** A step: records facts, which are kept if it fails later, and returns its result in one line. */
export type StepBody = (record: (facts: StepFacts) => void) => Promise<string>

export interface StepOptions {
  /** Steps whose failure prevents this one. */
  readonly needs?: readonly StepName[]
  /** Whether it also runs after a signal. */
  readonly isFinal?: boolean
}

export interface SequenceParts {
  readonly report: FirstLightReport
  /** Saves the report: before and after each step. */
  readonly save: () => Promise<void>
  readonly redactor: Redactor
  readonly output: Output
  readonly signal: AbortSignal
}

const INTERRUPTED = 'interrupted by a signal'

/** Runs steps one after another, and records the outcome of each. A failure does not stop independent steps. */
export class Sequence {
  private readonly parts: SequenceParts
  /** Steps that failed, or were skipped for one that failed. */
  private readonly missing = new Set<StepName>()
  private readonly categories: (keyof typeof EXIT)[] = []

  constructor(parts: SequenceParts) {
    this.parts = parts
  }

  /** Exit code: 6 if bytes differ, otherwise that of the first failure. */
  get exitCode(): number {
    const { categories } = this
    if (this.parts.signal.aborted) return EXIT.interrupted
    return EXIT[categories.includes('verification') ? 'verification' : (categories[0] ?? 'ok')]
  }

  async run(step: StepName, body: StepBody, { needs = [], isFinal = false }: StepOptions = {}): Promise<void> {
    const { report, save, signal, redactor } = this.parts
    const entry: StepEntry = { step, outcome: 'running' }
    report.steps.push(entry)
    const lacking = needs.find((name) => this.missing.has(name))
    if (lacking !== undefined) this.missing.add(step)
    const isStopped = signal.aborted && !isFinal
    const reason = isStopped ? INTERRUPTED : lacking === undefined ? undefined : `step ${lacking} did not pass`
    if (reason !== undefined) return this.end(entry, { outcome: 'skipped', reason }, reason)
    await save()
    this.showRunning(step)
    const startMs = performance.now()
    const wallMs = () => Math.round(performance.now() - startMs)
    try {
      const text = await body((facts) => Object.assign(entry, facts))
      await this.end(entry, { outcome: 'passed', wallMs: wallMs() }, text)
    } catch (thrown) {
      const error = firstFailure(thrown)
      if (error instanceof SkippedStep || (signal.aborted && error === signal.reason)) {
        const why = error instanceof SkippedStep ? redactor.text(error.reason) : INTERRUPTED
        return this.end(entry, { outcome: 'skipped', reason: why }, why)
      }
      this.missing.add(step)
      const { output } = this.parts
      const { code, category, message, next, stack } = describeError(error, output.invocation)
      if (stack !== undefined) output.error(printableLines(stack))
      this.categories.push(category)
      const failure = { code, message: redactor.text(message) }
      await this.end(entry, { outcome: 'failed', wallMs: wallMs(), error: failure }, message, next)
    }
  }

  /** Ends the report. */
  async finish(): Promise<void> {
    const { report, save, signal } = this.parts
    const hasFailed = report.steps.some(({ outcome }) => outcome === 'failed')
    report.outcome = signal.aborted ? 'interrupted' : hasFailed ? 'failed' : 'passed'
    await save()
  }

  private async end(entry: StepEntry, result: Partial<StepEntry>, text: string, next?: string): Promise<void> {
    const { output, save } = this.parts
    Object.assign(entry, result)
    await save()
    const { step, outcome, wallMs } = entry
    const time = wallMs === undefined ? '' : formatDuration(wallMs * 1e6)
    const columns = [numberOf(step), step.padEnd(17), outcome.padEnd(7), time.padStart(8)]
    output.print(`${columns.join('  ')}  ${printableLine(text)}`)
    if (next !== undefined) output.print(`      Try: ${printableLine(next)}`)
  }

  private showRunning(step: StepName): void {
    this.parts.output.setStatus(`${numberOf(step)}  ${step.padEnd(17)}  running`)
  }
}

function numberOf(step: StepName): string {
  return String(STEPS.indexOf(step) + 1).padStart(2)
}
