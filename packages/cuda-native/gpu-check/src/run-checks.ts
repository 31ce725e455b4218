import { cudaStatus, type CudaStatus } from '@gpunvme/cuda-native'
import { openCuda, type Cuda } from '@gpunvme/cuda-native/cuda'
import { CheckFailed, NotApplicable, type Check, type Facts } from './check.js'
import { checks as allChecks } from './checks/index.js'
import { CheckContext, FULL, type Scale } from './context.js'
import { readKernels, type KernelTexts } from './kernels.js'
import { describeMachine, packageVersions, sha256 } from './machine.js'
import { loadDriveAddon, type DriveAddon } from './drive-addon.js'
import { SCHEMA, SCHEMA_VERSION, UNDER_WAY, writeReport, type CheckResult, type Figure, type Report } from './report.js'

/** Options of a run. */
export interface RunOptions {
  /** File of the report, replaced after each check. Default: none. */
  readonly reportFile?: string | undefined
  /** Default: all checks. */
  readonly checks?: readonly Check[]
  readonly scale?: Scale
  /** Index of the GPU in the CUDA driver. Default: 0. */
  readonly device?: number
  readonly nvmeFunction?: string | undefined
  /** Whether a check may ring a doorbell of that function. */
  readonly ring?: boolean | undefined
  /** Default: the addon in the build folder, if any. */
  readonly driveAddon?: DriveAddon | undefined
  readonly kernels?: KernelTexts
  /** Report of an earlier process, whose checks are not run again. */
  readonly before?: Report | undefined
  /** Called with each result, for display. */
  readonly onResult?: (result: CheckResult) => void
}

/** Time limit for the clean-up of a check, and for closing the GPU. */
export const RELEASE_MS = 20_000

/**
 * Runs checks one after another on one GPU. Errors of checks are reported, not thrown.
 *
 * Ends early, with an `unfinished` report, after a check that failed or ended with an error, and before and after a check that
 * runs alone: after some errors, every call of the CUDA driver fails until the process ends. Another process then continues,
 * with that report as `before`.
 */
export async function runChecks(options: RunOptions = {}): Promise<Report> {
  const { checks = allChecks, scale = FULL, device: number = 0, nvmeFunction, kernels = readKernels() } = options
  const ring = options.ring === true
  const driveAddon = options.driveAddon ?? loadDriveAddon()
  const status = cudaStatus()
  const report = new RunningReport(options.reportFile, options.before ?? emptyReport(status, kernels))
  if (!status.available) return report.end('no-gpu')
  const device = status.devices[number]
  if (device === undefined)
    throw new RangeError(`device: expected the index of one of ${status.devices.length} GPUs, got ${number}`)

  let cuda: Cuda | undefined
  let mustRestart = false
  for (const check of checks) {
    if (report.has(check)) continue
    if (mustRestart || (check.alone === true && cuda !== undefined)) {
      await close(cuda)
      return report.soFar()
    }
    // Written before the check starts, so that the report names the check if the process ends during it.
    report.begin(check)
    const startMs = performance.now()
    const took = () => Math.round(performance.now() - startMs)
    let result: Pick<CheckResult, 'verdict' | 'reason' | 'facts'>
    let figures: readonly Figure[] = []
    try {
      cuda ??= openCuda({ device: number })
      const context = new CheckContext({ cuda, device, scale, kernels, driveAddon, nvmeFunction, ring })
      result = await judged(check, context)
      figures = context.figures
      const left = await within(RELEASE_MS, context.release())
      if (left === undefined || left.length > 0) {
        const reason =
          left === undefined
            ? `the clean-up did not end within ${RELEASE_MS} ms`
            : `the clean-up failed: ${describeError(left[0])}`
        // If the check did not pass, its own reason is the cause.
        if (result.verdict === 'passed') result = { ...result, verdict: 'error', reason }
      }
    } catch (error) {
      result = { verdict: 'error', reason: describeError(error), facts: {} }
    }
    mustRestart = result.verdict === 'failed' || result.verdict === 'error' || check.alone === true
    const { id, title } = check
    const whole: CheckResult = { id, title, ...result, durationMs: took() }
    report.add(whole, result.verdict === 'passed' ? figures : [])
    options.onResult?.(whole)
  }
  await close(cuda)
  return report.end()
}

async function judged(check: Check, context: CheckContext): Promise<Pick<CheckResult, 'verdict' | 'reason' | 'facts'>> {
  try {
    const facts: Facts | undefined = await within(check.limitMs, check.run(context))
    if (facts === undefined)
      return { verdict: 'error', reason: `the check did not end within ${check.limitMs} ms`, facts: {} }
    // Pending events of controllers are delivered in one turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve))
    if (check.injectsFaults !== true && context.recoveries.length > 0) {
      return {
        verdict: 'failed',
        reason: `the driver had to recover commands: ${context.recoveries.join(', ')}`,
        facts,
      }
    }
    return { verdict: 'passed', facts }
  } catch (error) {
    const verdict =
      error instanceof NotApplicable ? 'not-applicable' : error instanceof CheckFailed ? 'failed' : 'error'
    const reason = verdict === 'error' ? describeError(error) : (error as Error).message
    return { verdict, reason, facts: {} }
  }
}

/** Resolves to the result of `work`, or to undefined after `limitMs`. A later result or error of `work` is ignored. */
async function within<T>(limitMs: number, work: Promise<T>): Promise<T | undefined> {
  work.catch(() => undefined)
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), limitMs)))
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Closes the GPU if possible. Otherwise, the end of the process releases it. */
async function close(cuda: Cuda | undefined): Promise<void> {
  if (cuda === undefined) return
  await within(RELEASE_MS, cuda.close()).catch(() => undefined)
}

function describeError(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}

function emptyReport(cuda: CudaStatus, kernels: KernelTexts): Report {
  return {
    ...{ schema: SCHEMA, version: SCHEMA_VERSION, startedAt: new Date().toISOString(), endedAt: null },
    ...{ outcome: 'unfinished', machine: describeMachine(), packages: packageVersions() },
    kernels: { 'kernels.ptx': sha256(kernels.kernels), 'measure.ptx': sha256(kernels.measure) },
    ...{ cuda, checks: [], figures: [] },
  }
}

/** A report under construction. */
class RunningReport {
  private report: Report
  private readonly file: string | undefined

  constructor(file: string | undefined, report: Report) {
    this.file = file
    this.report = report
    this.write(this.report)
  }

  has({ id }: Check): boolean {
    return this.report.checks.some((result) => result.id === id)
  }

  begin({ id, title }: Check): void {
    const begun: CheckResult = { ...{ id, title, reason: UNDER_WAY }, verdict: 'error', facts: {}, durationMs: 0 }
    this.write({ ...this.report, checks: [...this.report.checks, begun] })
  }

  add(result: CheckResult, figures: readonly Figure[]): void {
    const { checks, figures: before } = this.report
    this.report = { ...this.report, checks: [...checks, result], figures: [...before, ...figures] }
    this.write(this.report)
  }

  /** Returns the report without ending it: checks are left to run. */
  soFar(): Report {
    return this.report
  }

  end(outcome?: Report['outcome']): Report {
    const isBad = ({ verdict }: CheckResult) => verdict === 'failed' || verdict === 'error'
    const found = this.report.checks.some(isBad) ? 'failed' : 'passed'
    this.report = { ...this.report, outcome: outcome ?? found, endedAt: new Date().toISOString() }
    this.write(this.report)
    return this.report
  }

  private write(report: Report): void {
    if (this.file !== undefined) writeReport(this.file, report)
  }
}
