import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { EXIT } from '../command-line/exit-codes.js'
import { firstFailure } from '../command-line/first-failure.js'
import { describeError } from '../command-line/report-error.js'
import type { Output } from '../terminal/output.js'
import { printableLine, printableLines } from '../terminal/printable.js'
import { formatDuration } from '../terminal/units.js'
import { STEPS, type FirstLightReport, type StepEntry, type StepFacts, type StepName } from './report.js'

/** Thrown by a step that does not apply to this drive or machine. The message is the reason. */
export class SkippedStep extends Error {}

/** A step: records facts, which are kept if it fails later, and returns its result in one line. */
export type StepBody = (record: (facts: StepFacts) => void) => Promise<string>

export interface StepOptions {
  /** Steps whose failure prevents this one. */
  readonly needs?: readonly StepName[]
  /** Whether it also runs after a signal, and if the report cannot be saved. */
  readonly isFinal?: boolean
}

export interface SequenceParts {
  readonly report: FirstLightReport
  /** Saves the report: before and after each step. */
  readonly save: () => Promise<void>
  readonly output: Output
  readonly signal: AbortSignal
}

/** End of a step. */
interface Ending {
  readonly result: Partial<StepEntry>
  /** Result in one line, for the terminal. */
  readonly text: string
  readonly next?: string | undefined
}

const INTERRUPTED = 'interrupted by a signal'

/** Runs steps one after another, and records the outcome of each. A failure does not stop independent steps. */
export class Sequence {
  private readonly parts: SequenceParts
  /** Steps that failed, or were skipped for one that failed. */
  private readonly missing = new Set<StepName>()
  private readonly failures: { readonly step: StepName; readonly category: keyof typeof EXIT }[] = []
  /** The first failure to save the report. */
  private saveError: Error | undefined

  constructor(parts: SequenceParts) {
    this.parts = parts
  }

  /** Exit code: 6 if a verification failed, then that of a failed restore, then 130, then that of the first failure. */
  get exitCode(): number {
    const { failures } = this
    if (failures.some(({ category }) => category === 'verification')) return EXIT.verification
    const restore = failures.find(({ step }) => step === 'restore')
    if (restore === undefined && this.parts.signal.aborted) return EXIT.interrupted
    return EXIT[(restore ?? failures[0])?.category ?? 'ok']
  }

  async run(step: StepName, body: StepBody, { needs = [], isFinal = false }: StepOptions = {}): Promise<void> {
    const { report, signal } = this.parts
    const entry: StepEntry = { step, outcome: 'running' }
    report.steps.push(entry)
    const lacking = needs.find((name) => this.missing.has(name))
    if (lacking !== undefined) this.missing.add(step)
    const isStopped = signal.aborted && !isFinal
    const reason = isStopped ? INTERRUPTED : lacking === undefined ? undefined : `step ${lacking} did not pass`
    if (reason !== undefined) return this.end(entry, { outcome: 'skipped', reason }, { text: reason, isFinal })
    await this.save(isFinal)
    this.showRunning(step)
    const startMs = performance.now()
    const wallMs = () => Math.round(performance.now() - startMs)
    const end = await this.attempt(step, body, entry)
    await this.end(
      entry,
      { ...end.result, ...(end.result.reason === undefined && { wallMs: wallMs() }) },
      { ...end, isFinal },
    )
  }

  /** Runs a step. @returns its result, and its text for the terminal */
  private async attempt(step: StepName, body: StepBody, entry: StepEntry): Promise<Ending> {
    const { output, signal } = this.parts
    try {
      const text = await body((facts) => Object.assign(entry, facts))
      return { result: { outcome: 'passed' }, text }
    } catch (thrown) {
      const error = firstFailure(thrown)
      if (error instanceof SkippedStep || (signal.aborted && error === signal.reason)) {
        const text = error instanceof SkippedStep ? error.message : INTERRUPTED
        return { result: { outcome: 'skipped', reason: text }, text }
      }
      this.missing.add(step)
      const { code, category, message, next, stack } = describeError(error, output.invocation)
      if (stack !== undefined) output.error(printableLines(stack))
      this.failures.push({ step, category })
      // Facts are for the terminal only: they may name data of the user.
      const failure = { code, message: error instanceof GpuNvmeError ? error.headline : message }
      return { result: { outcome: 'failed', error: failure }, text: message, next }
    }
  }

  /** Ends the report. */
  async finish(): Promise<void> {
    const { report, save } = this.parts
    report.outcome = this.exitCode === EXIT.interrupted ? 'interrupted' : outcomeOf(report)
    await save()
  }

  /** Saves the report. A final step runs even if that fails, and throws the first failure at its end. */
  private async save(isFinal: boolean): Promise<void> {
    try {
      await this.parts.save()
    } catch (error) {
      this.saveError ??= error as Error
      if (!isFinal) throw error
    }
  }

  private async end(
    entry: StepEntry,
    result: Partial<StepEntry>,
    { text, next, isFinal }: Pick<Ending, 'text' | 'next'> & { readonly isFinal: boolean },
  ): Promise<void> {
    const { output } = this.parts
    Object.assign(entry, result)
    await this.save(isFinal)
    const { step, outcome, wallMs } = entry
    const time = wallMs === undefined ? '' : formatDuration(wallMs * 1e6)
    const columns = [numberOf(step), step.padEnd(17), outcome.padEnd(7), time.padStart(8)]
    output.print(`${columns.join('  ')}  ${printableLine(text)}`)
    if (next !== undefined) output.print(`      Try: ${printableLine(next)}`)
    if (this.saveError !== undefined) throw this.saveError
  }

  private showRunning(step: StepName): void {
    this.parts.output.setStatus(`${numberOf(step)}  ${step.padEnd(17)}  running`)
  }
}

/** Steps without which a run has not tested a drive with a GPU. */
const ESSENTIAL: readonly StepName[] = ['read-cpu', 'doorbell', 'read-gpu-doorbell', 'tier']

function outcomeOf({ steps }: FirstLightReport): FirstLightReport['outcome'] {
  if (steps.some(({ outcome }) => outcome === 'failed')) return 'failed'
  const hasPassed = (name: StepName) => steps.some(({ step, outcome }) => step === name && outcome === 'passed')
  const needed: readonly StepName[] = hasPassed('bind') ? [...ESSENTIAL, 'restore'] : ESSENTIAL
  return needed.every(hasPassed) ? 'passed' : 'incomplete'
}

function numberOf(step: StepName): string {
  return String(STEPS.indexOf(step) + 1).padStart(2)
}
