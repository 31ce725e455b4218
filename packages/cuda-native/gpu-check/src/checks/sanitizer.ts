import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fail, NotApplicable, type Check } from '../check.js'

const NAME = 'compute-sanitizer'
const LIMIT_MS = 150_000

/** Finds the tool in `GPUNVME_COMPUTE_SANITIZER`, on PATH, or in the default folder of NVIDIA's toolkit. */
function findTool(): string {
  const named = process.env['GPUNVME_COMPUTE_SANITIZER']
  if (named !== undefined) {
    if (existsSync(named)) return named
    throw new NotApplicable(`GPUNVME_COMPUTE_SANITIZER names ${named}, which does not exist`)
  }
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/local/cuda/bin']
  const found = folders.map((folder) => join(folder, NAME)).find((path) => existsSync(path))
  if (found === undefined) throw new NotApplicable(`${NAME} is neither on PATH nor in /usr/local/cuda/bin`)
  return found
}

/** Kept parts of the output: the first errors, and their number at the end. */
const HEAD_CHARACTERS = 4000
const TAIL_CHARACTERS = 2000

interface Ended {
  readonly status: number | null
  readonly head: string
  readonly tail: string
}

function run(command: string, args: readonly string[]): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: LIMIT_MS, killSignal: 'SIGKILL' })
    let [head, tail] = ['', '']
    const add = (text: string) => {
      const toHead = text.slice(0, HEAD_CHARACTERS - head.length)
      head += toHead
      tail = (tail + text.slice(toHead.length)).slice(-TAIL_CHARACTERS)
    }
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => add(text.toString()))
    child.on('error', reject)
    child.on('close', (status) => resolve({ status, head, tail }))
  })
}

/** Joins lines for a report. Omits stack frames of Node and V8, of which the tool prints a dozen per call. */
function inOne(text: string): string {
  const isTold = (line: string) => line.trim() !== '' && !/Host Frame: .* in node$/.test(line)
  return text.trim().split('\n').filter(isTold).join('; ')
}

/** Runs checks again in a separate process under one of the sanitizer's tools. */
function sanitized(tool: string, ids: readonly string[], options: readonly string[] = []): Check {
  return {
    id: `sanitizer-${tool}`,
    title: `${NAME} --tool ${tool} reports no errors in the kernels of ${ids.join(', ')}`,
    alone: true,
    limitMs: LIMIT_MS + 10_000,
    async run({ device }) {
      const command = findTool()
      const folder = mkdtempSync(join(tmpdir(), 'gpunvme-sanitizer-'))
      try {
        const report = join(folder, 'report.json')
        const main = fileURLToPath(new URL('../main.js', import.meta.url))
        const own = ['--child', '--quick', '--only', ids.join(','), '--device', `${device.device}`, '--report', report]
        const judged = ['--tool', tool, ...options, '--error-exitcode', '9']
        const args = [...judged, process.execPath, ...process.execArgv, main, ...own]
        const startMs = performance.now()
        const { status, head, tail } = await run(command, args)
        // 1: a check failed. 9: the sanitizer has found an error.
        if (status !== 0) {
          const said = tail === '' ? inOne(head) : `${inOne(head)}; ...; ${inOne(tail)}`
          fail(`${NAME} ended with ${status ?? 'a signal'}: ${said}`)
        }
        const last = (head + tail).trim().split('\n').at(-1) ?? ''
        return { checks: ids, tookMs: Math.round(performance.now() - startMs), said: last }
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    },
  }
}

const team = ['checksum', 'scatter', 'pattern']
const device = ['block-io-threads', 'array', 'expert-fetch']

/** Memory accesses, as checked by NVIDIA's compute-sanitizer if it is installed. */
export const sanitizerChecks: readonly Check[] = [
  // API errors are excluded: the engine expects INVALID_VALUE from cuMemHostGetDevicePointer for memory that is not registered
  // yet. All other API errors end in errors of the engine.
  sanitized('memcheck', ['plans-qd32-pairs1', 'block-io', ...device, ...team], ['--report-api-errors', 'no']),
  sanitized('racecheck', ['plans-qd32-pairs1', ...team]),
  sanitized('initcheck', ['plans-qd32-pairs1', 'block-io', ...device]),
  sanitized('synccheck', ['plans-qd32-pairs1', ...device, ...team]),
]
