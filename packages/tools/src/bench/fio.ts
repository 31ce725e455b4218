import { spawn } from 'node:child_process'
import { printable } from '../terminal/printable.js'
import { formatBytes } from '../terminal/units.js'
import { ToolsError } from '../command-line/tools-error.js'

/** Maximum output of fio; a run with all bins has some hundred kilobytes. */
const MAX_BYTES = 16 * 1024 * 1024
/** Allowance beyond the measured time, to start threads and print results. */
const GRACE_SECONDS = 30

/** Parameters of a fio run. */
export interface FioJob {
  readonly path: string
  readonly engine: string
  /** Options of that engine only: 'gpu_dev_ids=0'. */
  readonly engineOptions: readonly string[]
  readonly rw: 'read' | 'randread'
  readonly blockBytes: number
  readonly depth: number
  readonly threads: number
  /** Area that the threads read: all of it each, or separate parts. */
  readonly firstByte: number
  readonly lengthBytes: number
  readonly shared: boolean
  readonly seconds: number
  readonly warmUpSeconds: number
  readonly seed: number
}

/** Returns the arguments of fio, which prevent writes. */
export function fioArguments(job: FioJob): string[] {
  const { blockBytes, threads, firstByte, lengthBytes, shared } = job
  const partBytes = shared ? lengthBytes : Math.floor(lengthBytes / threads / blockBytes) * blockBytes
  const options: readonly (readonly [string, string | number])[] = [
    ['name', 'gpunvme'],
    // fio separates files by colons.
    ['filename', job.path.replaceAll(':', '\\:')],
    ['ioengine', job.engine],
    ['rw', job.rw],
    ['bs', blockBytes],
    ['iodepth', job.depth],
    ['numjobs', threads],
    ['offset', firstByte],
    ['size', partBytes],
    ['offset_increment', shared ? 0 : partBytes],
    ['direct', 1],
    ['runtime', `${Math.round(job.seconds * 1000)}ms`],
    ['ramp_time', `${Math.round(job.warmUpSeconds * 1000)}ms`],
    ['randseed', job.seed],
    ['output-format', 'json+'],
    ['eta', 'never'],
  ]
  const flags = ['readonly', 'thread', 'time_based', 'group_reporting', 'norandommap', ...job.engineOptions]
  return [...options.map(([name, value]) => `--${name}=${value}`), ...flags.map((flag) => `--${flag}`)]
}

/** Runs fio. @returns its JSON. @throws FioError; the signal's reason. */
export async function runFio(job: FioJob, signal: AbortSignal): Promise<string> {
  const limitSeconds = job.seconds + job.warmUpSeconds + GRACE_SECONDS
  return capture('fio', fioArguments(job), limitSeconds, signal)
}

/** Returns the engines of the installed fio; undefined if fio is not installed. */
export async function fioEngines(signal: AbortSignal): Promise<ReadonlySet<string> | undefined> {
  try {
    const text = await capture('fio', ['--enghelp'], GRACE_SECONDS, signal)
    return new Set(text.split('\n').map((line) => line.trim()))
  } catch (error) {
    if (error instanceof FioError && error.systemCode === 'ENOENT') return undefined
    throw error
  }
}

function capture(
  program: string,
  parameters: readonly string[],
  limitSeconds: number,
  signal: AbortSignal,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, parameters, {
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
      timeout: limitSeconds * 1000,
      killSignal: 'SIGKILL',
    })
    const output = new Captured()
    const complaint = new Captured()
    child.stdout.on('data', (chunk: Buffer) => output.add(chunk))
    child.stderr.on('data', (chunk: Buffer) => complaint.add(chunk))
    child.on('error', (error: NodeJS.ErrnoException) => {
      reject(signal.aborted ? (signal.reason as Error) : new FioError(error.message, error.code))
    })
    child.on('close', (code, killedBy) => {
      if (signal.aborted) reject(signal.reason as Error)
      else if (killedBy !== null) reject(new FioError(`it did not end within ${limitSeconds} s and was killed`))
      else if (code !== 0) reject(new FioError(complaint.lastLine || `exit code ${code ?? '?'}`))
      else if (output.isCut) reject(new FioError(`it printed more than ${formatBytes(MAX_BYTES)}`))
      else resolve(jsonPart(output.text))
    })
  })
}

/** fio may print text before its JSON, which contains no brace. */
function jsonPart(text: string): string {
  const at = text.indexOf('{')
  return at < 0 ? text : text.slice(at)
}

/** Captures a program's output up to a limit. */
class Captured {
  isCut = false
  private readonly chunks: Buffer[] = []
  private lengthBytes = 0

  add(chunk: Buffer): void {
    this.lengthBytes += chunk.length
    if (this.lengthBytes > MAX_BYTES) this.isCut = true
    else this.chunks.push(chunk)
  }

  get text(): string {
    return Buffer.concat(this.chunks).toString('utf8')
  }

  get lastLine(): string {
    return this.text.trim().split('\n').at(-1) ?? ''
  }
}

/** Error of running fio. */
export class FioError extends ToolsError {
  /** System error if it could not be started: 'ENOENT'. */
  readonly systemCode: string | undefined
  constructor(problem: string, systemCode?: string) {
    super('ERR_GPUNVME_FIO', 'failure', `fio failed: ${printable(problem)}`, { next: 'omit it from --baselines' })
    this.systemCode = systemCode
  }
}
