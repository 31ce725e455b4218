import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll } from 'vitest'
import { compiler, Objects } from './objects.js'
import { end, type Ended, type RunOptions } from './run-program.js'

const packageRoot = resolve(import.meta.dirname, '../..')
const objects = new Objects(join(packageRoot, 'native/build/objects'))
const specHeaders = resolve(packageRoot, '../nvme-spec/include')

/** Whether C++ can be compiled here. */
export const hasCompiler: boolean = spawnSync('g++', ['--version']).status === 0

/** What a title says where it cannot. */
export const skippedWithoutCompiler: string = hasCompiler ? '' : ' (skipped: [native] g++ is not installed)'

/** A bug to plant, or a size to shrink: `from` stands in the file exactly once. */
export interface Change {
  /** From the package's root: `cuda/checksum.cuh`. */
  readonly path: string
  readonly from: string
  readonly to: string
}

/** What a program is made of. */
export interface ProgramOptions {
  /** From the package's root, or absolute: `test/device/checksum_test.cc`. */
  readonly sources: readonly string[]
  /** After the usual ones, which they may take back: `['-O1', '-fsanitize=thread']`. */
  readonly flags?: readonly string[]
  /** Compiled in a copy of `cuda`, `native` and `test` with these made; the tree stays as it is. */
  readonly changes?: readonly Change[]
}

/** A program that was built. */
export interface Program {
  readonly path: string
  /** What it printed. Throws, with stderr, where its exit status is not 0. */
  run(args?: readonly string[], options?: RunOptions): Promise<string>
  /** However it ended: for programs that ought to fail. */
  attempt(args?: readonly string[], options?: RunOptions): Promise<Ended>
}

/** Compiles C++ into a folder of its own. */
export interface Compiler {
  /** The folder, for files of the test. Ask for it in one: it is made then. */
  readonly folder: string
  /** Throws what g++ says, also where it only warns. */
  readonly compile: (options: ProgramOptions) => Promise<Program>
  /** The same for what is not a program: `flags: ['-shared', '-fPIC']`. Answers its path. */
  readonly build: (name: string, options: ProgramOptions) => Promise<string>
}

/**
 * A compiler for the tests of one file. Call it outside of tests: its folder goes away after the last one.
 *
 * Headers are found from `cuda`, `native`, `test` and nvme-spec's `include`.
 */
export function useCompiler(): Compiler {
  // Made when it is needed: where all tests are skipped, nothing is called after them.
  let made: string | undefined
  const folder = () => (made ??= mkdtempSync(join(tmpdir(), 'gpunvme-programs-')))
  afterAll(() => {
    if (made !== undefined) rmSync(made, { recursive: true, force: true })
    objects.tidy()
  })
  let count = 0

  async function build(name: string, { sources, flags = [], changes = [] }: ProgramOptions): Promise<string> {
    const index = count++
    const root = changes.length === 0 ? packageRoot : changedCopy(join(folder(), `source-${index}`), changes)
    const path = join(folder(), `${index}-${name}`)
    const usual = [
      ...['-std=c++17', '-O2', '-g1', '-Wall', '-Wextra', '-Werror', '-pthread'],
      ...['cuda', 'native', 'test'].map((place) => `-I${join(root, place)}`),
      `-I${specHeaders}`,
      ...flags,
    ]
    const compiled = await Promise.all(sources.map((source) => objects.of(resolve(root, source), usual)))
    await compiler(['-pthread', '-o', path, ...compiled, ...flags])
    return path
  }

  async function compile(options: ProgramOptions): Promise<Program> {
    const path = await build('program', options)
    const attempt = (args: readonly string[] = [], how: RunOptions = {}) => end(path, args, how)
    return {
      path,
      attempt,
      run: async (args, how) => {
        const { status, signal, stdout, stderr } = await attempt(args, how)
        if (status !== 0)
          throw new Error(`${options.sources.join(' ')} ended with ${signal ?? status}\n${stdout}${stderr}`)
        return stdout
      },
    }
  }

  return {
    get folder() {
      return folder()
    },
    compile,
    build,
  }
}

function changedCopy(to: string, changes: readonly Change[]): string {
  for (const place of ['cuda', 'native', 'test'])
    cpSync(join(packageRoot, place), join(to, place), {
      recursive: true,
      filter: (path) => path !== join(packageRoot, 'native', 'build'),
    })
  for (const { path, from, to: by } of changes) {
    const parts = readFileSync(join(to, path), 'utf8').split(from)
    if (parts.length !== 2)
      throw new Error(`${path}: expected one place to change, got ${parts.length - 1}, of ${JSON.stringify(from)}`)
    writeFileSync(join(to, path), parts.join(by))
  }
  return to
}
