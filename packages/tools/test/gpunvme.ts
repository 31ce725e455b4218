import { EventEmitter } from 'node:events'
import { delimiter, join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { run } from '../src/cli.js'
import { createProgram } from '../src/command-line/program.js'
import type { Session } from '../src/command-line/session.js'
import type { Io, OutputStream } from '../src/terminal/io.js'
import { SECTIONS } from '../src/verbs.js'
import { problemsOf } from './schema-check.js'

export { scratch } from '../../../test/scratch.js'

export interface Ended {
  /** Exit code; null for a process that a signal ended. */
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A running command, which a test may send signals to. */
export interface Running {
  kill(signal: NodeJS.Signals): unknown
}

export interface RunOptions {
  readonly cwd: string
  /** Changes to the environment during the run. */
  readonly env?: NodeJS.ProcessEnv
  /** Content of stdin, a pipe. */
  readonly input?: string | Uint8Array
  /** Makes stdin, stdout and stderr a terminal of this width instead of pipes. */
  readonly columns?: number
  /** Called with all of stderr whenever it grows. */
  readonly onStderr?: (text: string, running: Running) => void
}

/**
 * Runs the command in this process, by default on pipes. Throws if the run leaves listeners behind or changes the
 * environment. Runs take turns, since they share a working directory and an environment.
 */
export function gpunvme(args: readonly string[], options: RunOptions): Promise<Ended> {
  const ended = turn.then(() => runOnce(args, options))
  turn = ended.catch(() => undefined)
  return ended
}

let turn: Promise<unknown> = Promise.resolve()

async function runOnce(args: readonly string[], { cwd, env = {}, onStderr, ...options }: RunOptions): Promise<Ended> {
  const io = testIo({
    ...options,
    onStderr: (text) => onStderr?.(text, { kill: (signal) => setImmediate(() => io.signals.emit(signal, signal)) }),
  })
  const before = { cwd: process.cwd(), env: { ...process.env }, state: stateOf(io) }
  process.chdir(cwd)
  assignEnv({ FORCE_COLOR: undefined, NO_COLOR: undefined, ...env })
  const during = { ...process.env }
  try {
    // As if installed in the first folder of PATH, so that suggested commands start with 'gpunvme'.
    const program = join(process.env['PATH']!.split(delimiter).at(-1)!, 'gpunvme')
    const code = await run(args, { ...io, cwd, env: process.env, program })
    const after = stateOf(io)
    if (after !== before.state) throw new Error(`gpunvme ${args.join(' ')} left behind ${after}, from ${before.state}`)
    if (JSON.stringify(process.env) !== JSON.stringify(during))
      throw new Error(`gpunvme ${args.join(' ')} changed the environment`)
    return { code, stdout: io.stdoutText(), stderr: io.stderrText() }
  } finally {
    process.chdir(before.cwd)
    assignEnv({ ...Object.fromEntries(Object.keys(process.env).map((name) => [name, undefined])), ...before.env })
  }
}

function assignEnv(env: NodeJS.ProcessEnv): void {
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) Reflect.deleteProperty(process.env, name)
    else process.env[name] = value
  }
}

/** Returns the numbers of listeners on the process, and on the streams and signals of a run. */
function stateOf({ stdout, stderr, signals }: TestIo): string {
  const counts = ['exit', 'SIGINT', 'SIGTERM', 'SIGHUP', 'uncaughtException'].map((name) => process.listenerCount(name))
  const own = [stdout.listenerCount('error'), stderr.listenerCount('error'), signals.eventNames().length]
  return JSON.stringify({ counts, own })
}

export interface TestIo extends Io {
  readonly signals: EventEmitter
  stdoutText(): string
  stderrText(): string
}

export interface TestIoOptions {
  readonly input?: string | Uint8Array
  /** Makes stdin, stdout and stderr a terminal of this width. */
  readonly columns?: number
  readonly env?: Io['env']
  readonly isRoot?: boolean
  readonly onStderr?: (text: string) => void
}

/** Returns an `Io` that keeps its output in memory. */
export function testIo({
  input = '',
  columns,
  env = {},
  isRoot = process.getuid?.() === 0,
  onStderr,
}: TestIoOptions = {}): TestIo {
  const terminal = columns === undefined ? {} : { isTTY: true, columns }
  const [stdout, stderr] = [collector(), collector(onStderr)]
  return {
    stdin: Object.assign(Readable.from(input.length === 0 ? [] : [Buffer.from(input)]), terminal),
    stdout: Object.assign(stdout.stream, terminal),
    stderr: Object.assign(stderr.stream, terminal),
    env: { PATH: '/usr/local/bin', ...env },
    program: '/usr/local/bin/gpunvme',
    isRoot,
    cwd: process.cwd(),
    signals: new EventEmitter(),
    exit(code) {
      throw new Error(`The command called exit(${code}): such a test has to start a process (test/process.ts)`)
    },
    stdoutText: stdout.text,
    stderrText: stderr.text,
  }
}

function collector(onText?: (text: string) => void): { readonly stream: OutputStream; readonly text: () => string } {
  const chunks: Buffer[] = []
  const text = () => Buffer.concat(chunks).toString()
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk)
      if (chunk.length > 0) onText?.(text())
      done()
    },
  })
  return { stream, text }
}

/** Returns a session of a command line, for functions that `run` calls. */
export function testSession(argv: readonly string[] = [], io: Io = testIo()): Session {
  return { argv, io, sections: SECTIONS, signal: new AbortController().signal, exitCode: 0 }
}

/** Runs a verb in a folder, and returns the error that it throws. */
export async function failureIn(cwd: string, ...words: string[]): Promise<Error> {
  const before = process.cwd()
  process.chdir(cwd)
  try {
    return await failureOf(...words)
  } finally {
    process.chdir(before)
  }
}

/** Runs a verb, and returns the error that it throws. */
export async function failureOf(...words: string[]): Promise<Error> {
  const program = await createProgram(testSession(words), words)
  try {
    await program.parseAsync(words, { from: 'user' })
  } catch (error) {
    if (error instanceof Error) return error
  }
  throw new Error(`gpunvme ${words.join(' ')}: expected a refusal, got none`)
}

/** Returns the JSON object on stdout. @throws SyntaxError if stdout is anything else; Error if it does not fit its schema. */
export function json(ended: Ended): unknown {
  const result = JSON.parse(ended.stdout) as object
  const problems = problemsOf(result)
  if (problems.length > 0) throw new Error(`the result does not fit its schema:\n${problems.join('\n')}`)
  return result
}
