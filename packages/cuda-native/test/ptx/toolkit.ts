import { spawnSync } from 'node:child_process'
import type { SpawnSyncReturns } from 'node:child_process'
import { hasCompiler, skippedWithoutCompiler } from '../programs/program.js'

/** Runs one of CUDA's programs; its options come from its arguments alone. */
export function run(command: string, args: readonly string[], cwd?: string): SpawnSyncReturns<string> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^NVCC_\w+_FLAGS$/.test(name)))
  return spawnSync(command, args, { encoding: 'utf8', maxBuffer: 2 ** 26, env, ...(cwd !== undefined && { cwd }) })
}

const has = (command: string): boolean => run(command, ['--version']).status === 0

/** Whether CUDA's compiler and assembler, and the g++ that nvcc calls, are installed. */
export const hasToolkit: boolean = hasCompiler && has('nvcc') && has('ptxas')

/** Suffix of the titles of skipped tests; empty if the toolkit is installed. */
export const skippedWithoutToolkit: string = hasToolkit
  ? ''
  : skippedWithoutCompiler || ' (skipped: [cuda] nvcc or ptxas is not installed)'

const wanted = [75, 80, 86, 89, 90, 100, 103, 110, 120, 121]

/** Tested compute capabilities that this ptxas supports: 86 is 8.6. */
export const targets: readonly number[] = hasToolkit ? knownOf(wanted) : []

/** Compute capabilities that CI compiles for: the oldest, 9.0 (Hopper) and the newest of `targets`. */
export const compiledByDefault: readonly number[] = targets.filter(
  (target) => target === 90 || target === targets[0] || target === targets.at(-1),
)

function knownOf(candidates: readonly number[]): number[] {
  const { stdout } = run('ptxas', ['--help'])
  return candidates.filter((target) => stdout.includes(`'sm_${target}'`))
}
