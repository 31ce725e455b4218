// Counts instructions per operation of a bench's exported `works` with callgrind, after Node has optimized their code.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'

/** Operations before counting, after which Node has optimized the code, and counted operations. */
const WARM_UP = 200_000
const COUNTED = 500_000
/** Limit on the CPU time of one run. A limit on wall time would depend on the load of the machine. */
const LIMIT_SECONDS = 600
// One thread, and the same heap and hash tables in every run.
const FLAGS = ['--predictable', '--hash-seed=1', '--random-seed=1', '--expose-gc']
const child = join(import.meta.dirname, 'instructions-child.mjs')

/** Returns why instructions cannot be counted on this machine; undefined if they can. */
export function missingCallgrind() {
  return spawnSync('valgrind', ['--version']).status === 0 ? undefined : 'valgrind is not installed'
}

/** Returns the names of the works that the bench at `path` exports. */
export function worksOf(path) {
  const { status, stdout } = spawnSync(process.execPath, ['--expose-gc', child, path], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${path} cannot be imported`)
  return JSON.parse(stdout)
}

/**
 * Returns the instructions per operation of each work of the bench at `path`: the difference between a run that warms
 * up and counts, and one that only warms up, divided by the counted operations.
 */
export function instructionsOf(path, works) {
  return Object.fromEntries(works.map((work) => [work, (count(path, work, COUNTED) - count(path, work, 0)) / COUNTED]))
}

function count(path, work, counted) {
  const limited = ['-c', `ulimit -t ${LIMIT_SECONDS}; exec "$@"`, 'sh']
  const callgrind = ['valgrind', '--tool=callgrind', '--callgrind-out-file=/dev/null', process.execPath, ...FLAGS]
  const args = [...limited, ...callgrind, child, path, work, String(WARM_UP + counted)]
  const { status, signal, stderr } = spawnSync('sh', args, { encoding: 'utf8' })
  if (signal !== null) throw new Error(`a run under callgrind took more than ${LIMIT_SECONDS} CPU seconds (${signal})`)
  const collected = /Collected : (\d+)/.exec(stderr)
  if (status !== 0 || collected === null) throw new Error(`callgrind failed: ${stderr.trim().split('\n').at(-1)}`)
  return Number(collected[1])
}
