// Calls every exported function of the addon gpunvme_host with wrong arguments. The seed alone determines the calls.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { built, compilerProblem } from '../programs/build.mjs'

const CALLS_A_PROCESS = 10_000
/** Time limit of a process. */
const MAX_PROCESS_MS = 300_000
const child = join(import.meta.dirname, 'addon-child.mjs')

const root = join(import.meta.dirname, '../..')

/** The addon without sanitizers. */
export const releaseAddon = join(root, 'native/build/Release/gpunvme_host.node')

/**
 * An addon to call.
 *
 * @typedef {{ addon: string, env?: Record<string, string> }} Target `addon` is its path, `env` the environment of its processes
 */

/**
 * Builds the addon with AddressSanitizer and UndefinedBehaviorSanitizer, unless it is up to date; returns undefined if it
 * cannot be built.
 *
 * @returns {Promise<Target | undefined>}
 */
export async function sanitizedAddon() {
  if (compilerProblem() !== undefined) return undefined
  const addon = resolve(root, await built('fuzz/host-memory.node'))
  const runtime = execFileSync('g++', ['-print-file-name=libasan.so'], { encoding: 'utf8' }).trim()
  return { addon, env: { LD_PRELOAD: runtime, ASAN_OPTIONS: 'detect_leaks=0' } }
}

/**
 * @typedef {object} Failure
 * @property {number | 'every'} seed
 * @property {string} call its number, the function, and the wrong arguments
 * @property {string} output exit status or signal of the process, and its output
 */

/**
 * Makes random calls until the time or the number of calls is reached, or one fails: 10,000 calls per seed, starting at `seed`.
 *
 * @param {{ seed?: number, seconds?: number, iterations?: number, target?: Target | undefined }} options one of `seconds` and
 *   `iterations` is given
 * @returns {Promise<{ inputs: number, failure?: Failure }>}
 */
export async function run({ seed = 1, seconds = Infinity, iterations = Infinity, target }) {
  if (seconds === Infinity && iterations === Infinity)
    throw new TypeError('expected seconds or iterations, got neither')
  const endMs = performance.now() + seconds * 1000
  let inputs = 0
  for (let next = seed; inputs < iterations && performance.now() < endMs; next++) {
    const { failure, ...result } = await inProcess(next, Math.min(CALLS_A_PROCESS, iterations - inputs), target)
    inputs += result.inputs
    if (failure !== undefined) return { inputs, failure }
  }
  return { inputs }
}

/**
 * Calls each function with each wrong value as each argument.
 *
 * @param {Target} [target]
 */
export function runEvery(target) {
  return inProcess('every', 0, target)
}

/**
 * @param {number | 'every'} seed
 * @param {number} calls
 * @param {Target} [target]
 * @returns {Promise<{ inputs: number, failure?: Failure }>}
 */
async function inProcess(seed, calls, { addon, env } = { addon: releaseAddon }) {
  const folder = mkdtempSync(join(tmpdir(), 'gpunvme-arguments-'))
  try {
    const args = [
      '--expose-gc',
      child,
      addon,
      folder,
      ...(seed === 'every' ? ['1', 'every'] : [String(seed), String(calls)]),
    ]
    // Limits locked memory to 8 MiB, for users other than root.
    const started = spawn('sh', ['-c', 'ulimit -l 8192; exec "$0" "$@"', process.execPath, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
      timeout: MAX_PROCESS_MS,
      killSignal: 'SIGKILL',
    })
    let output = ''
    for (const stream of [started.stdout, started.stderr])
      stream.setEncoding('utf8').on('data', (text) => (output += text))
    const [status, signal] = await once(started, 'close')
    const call = read(join(folder, 'call')).trimEnd()
    const report = read(join(folder, 'report'))
    if (status === 0 && report !== '') return { inputs: JSON.parse(report).calls }
    const ended = `the process ended with ${signal ?? status}`
    return { inputs: Number.parseInt(call) || 0, failure: { seed, call, output: `${ended}\n${output}` } }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** @param {string} path */
function read(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
