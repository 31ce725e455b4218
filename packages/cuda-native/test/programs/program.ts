import { end, type Ended, type RunOptions } from './run-program.js'
import { build, built, compilerProblem } from './build.mjs'

const problem = compilerProblem()

/** Whether native programs can be compiled here. */
export const hasCompiler: boolean = problem === undefined

/** What a title says where they cannot. */
export const skippedWithoutCompiler: string = problem === undefined ? '' : ` (skipped: [native] ${problem})`

/** A program that is built. */
export interface Program {
  readonly path: string
  /** What it printed. Throws, with its output, where its exit status is not 0: sanitizers end a program so. */
  run(args?: readonly string[], options?: RunOptions): Promise<string>
  /** However it ended: for programs that ought to fail. */
  attempt(args?: readonly string[], options?: RunOptions): Promise<Ended>
}

/**
 * A program of table.mjs; `npm test` has built it by then, and otherwise it is built now. Throws a CompileError. For
 * `beforeAll`, which the time that a build takes is given to.
 */
export async function program(name: string): Promise<Program> {
  return runnable(name, await built(name))
}

/** A program of one source that a test writes. */
export async function programOf(source: string): Promise<Program> {
  return runnable(source, await build('own', { sources: [source], flags: ['-O0'] }))
}

function runnable(name: string, path: string): Program {
  const attempt = (args: readonly string[] = [], how: RunOptions = {}) => end(path, args, how)
  return {
    path,
    attempt,
    run: async (args, how) => {
      const { status, signal, stdout, stderr } = await attempt(args, how)
      if (status !== 0) throw new Error(`${name} ended with ${signal ?? status}\n${stdout}${stderr}`)
      return stdout
    },
  }
}

/** Seeds of a program that draws what it does: one in `npm test`, all of them in `npm run test:all`. */
export const seedsOf = (...seeds: readonly string[]): readonly string[] =>
  process.env['GPUNVME_TIER'] === 'all' ? seeds : seeds.slice(0, 1)

/** How long a `beforeAll` may take that builds programs. */
export const BUILD_MS = 300_000
