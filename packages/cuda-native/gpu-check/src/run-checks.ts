import { cudaStatus, type CudaStatus } from '@gpunvme/cuda-native'
import { openCuda, type Cuda } from '@gpunvme/cuda-native/cuda'
import { CheckFailed, NotApplicable, type Check, type Facts } from './check.js'
import { checks as allChecks } from './checks/index.js'
import { CheckContext, FULL, type Scale } from './context.js'
import { readKernels, type KernelTexts } from './kernels.js'
import { describeMachine, packageVersions, sha256 } from './machine.js'
import { loadDriveAddon, type DriveAddon } from './drive-addon.js'
import { SCHEMA, SCHEMA_VERSION, UNDER_WAY, writeReport, type CheckResult, type Figure, type Report } from './report.js'

/** How the checks are run. */
export interface RunOptions {
  /** Where the report goes, after each check anew; nowhere when not given. */
  readonly reportFile?: string | undefined
  /** All of them when not given. */
  readonly checks?: readonly Check[]
  readonly scale?: Scale
  /** The driver's number of the GPU; 0 when not given. */
  readonly device?: number
  readonly nvmeFunction?: string | undefined
  /** Whether a doorbell of that function may be rung. */
  readonly ring?: boolean | undefined
  /** The one that was built, if any, when not given. */
  readonly driveAddon?: DriveAddon | undefined
  readonly kernels?: KernelTexts
  /** What an earlier process has found; its checks are not run again. */
  readonly before?: Report | undefined
  /** Called with each result as it comes, for people. */
  readonly onResult?: (result: CheckResult) => void
}

/** What cleaning up after a check may take, and closing the GPU. */
export const RELEASE_MS = 20_000

/**
 * Runs checks one after the other on one GPU. Throws nothing that a check throws: it is in the report.
 *
 * Ends early, with a report that is `unfinished`, after a check that did not pass, and around one that is to be alone:
 * after some errors the driver answers nothing but errors for as long as the process lives. Another process goes on then,
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
  if (device === undefined) throw new RangeError(`device: expected one of ${status.devices.length}, got ${number}`)

  let cuda: Cuda | undefined
  let isSpoilt = false
  for (const check of checks) {
    if (report.has(check)) continue
    if (isSpoilt || (check.alone === true && cuda !== undefined)) {
      await close(cuda)
      return report.soFar()
    }
    // In the report before it begins: where the process ends in the middle of it, that is what the report says.
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
          left === undefined ? `cleaning up took more than ${RELEASE_MS} ms` : `cleaning up: ${told(left[0])}`
        // What was wrong before is why.
        if (result.verdict === 'passed') result = { ...result, verdict: 'error', reason }
      }
    } catch (error) {
      result = { verdict: 'error', reason: told(error), facts: {} }
    }
    isSpoilt = result.verdict === 'failed' || result.verdict === 'error' || check.alone === true
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
    if (facts === undefined) return { verdict: 'error', reason: `it did not end within ${check.limitMs} ms`, facts: {} }
    // Events that have happened are told in a turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve))
    if (check.provokes !== true && context.recoveries.length > 0) {
      return { verdict: 'failed', reason: `commands got no answer: ${context.recoveries.join(', ')}`, facts }
    }
    return { verdict: 'passed', facts }
  } catch (error) {
    const verdict =
      error instanceof NotApplicable ? 'not-applicable' : error instanceof CheckFailed ? 'failed' : 'error'
    const reason = verdict === 'error' ? told(error) : (error as Error).message
    return { verdict, reason, facts: {} }
  }
}

/** What it resolves to, or undefined after so long: its own end is then nobody's any more. */
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

/** As far as that is possible: what does not close is left to the end of the process. */
async function close(cuda: Cuda | undefined): Promise<void> {
  if (cuda === undefined) return
  await within(RELEASE_MS, cuda.close()).catch(() => undefined)
}

function told(error: unknown): string {
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

/** The report as it grows. */
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

  /** With checks left to run. */
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
