import { end, type Ended, type RunOptions } from './run-program.js'
import { build, built, compilerProblem } from './build.mjs'

const problem = compilerProblem()

/** Whether native programs can be compiled on this machine. */
export const hasCompiler: boolean = problem === undefined

/** Suffix of the titles of skipped tests; empty if programs can be compiled. */
export const skippedWithoutCompiler: string = problem === undefined ? '' : ` (skipped: [native] ${problem})`

/** A compiled program. */
export interface Program {
  readonly path: string
  /** Returns its stdout. Throws with its output if the exit status is not 0, as after a sanitizer's report. */
  run(args?: readonly string[], options?: RunOptions): Promise<string>
  /** Returns how it ended, for programs that are expected to fail. */
  attempt(args?: readonly string[], options?: RunOptions): Promise<Ended>
}

/**
 * Returns a program of table.mjs, building it unless that has been done. Throws a CompileError. A build takes up to
 * BUILD_MS, which must be the time limit of the calling hook or test.
 */
export async function program(name: string): Promise<Program> {
  return runnable(name, await built(name))
}

/** Builds a program from one source that a test writes. */
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

/** Seeds of a randomized program: the first one in CI, all if GPUNVME_TIER is `all`, as in `npm test -- FILE`. */
export const seedsOf = (...seeds: readonly string[]): readonly string[] => byTier(seeds.slice(0, 1), seeds)

/** Returns the first value in CI, the second if GPUNVME_TIER is `all`. */
export const byTier = <T>(brief: T, complete: T): T => (process.env['GPUNVME_TIER'] === 'all' ? complete : brief)

/** Time limit of a hook or test that builds programs. */
export const BUILD_MS = 300_000
