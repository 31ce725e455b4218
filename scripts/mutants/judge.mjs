// Runs test files in the copy, within a time limit, and judges whether they catch a bug.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { clearTimeout, setTimeout } from 'node:timers'

/** Time limit of a test file, as a multiple of its duration without a bug. */
const MAX_SLOWDOWN = 4
const MIN_LIMIT_MS = 180_000
/** Time limit of a test: below that of its file, so that a bug by which a test hangs is caught. */
const TEST_LIMIT_MS = 60_000
/** Error of a native test program that does not compile (packages/cuda-native/test/programs). */
const COMPILE_ERROR = /^CompileError\b/

/** The process group of the test run in progress. */
let running

export function stopTests() {
  if (running !== undefined) process.kill(-running, 'SIGKILL')
  running = undefined
}

/**
 * Runs the tests of `file` whose names match `test`.
 *
 * @returns `failed`, `passed` and `skips`, the tests by name; or `error`, why no verdict is possible.
 */
export async function runTests(root, file, { test, bail = false, baselineMs = 0 }) {
  const report = join(root, 'mutant-report.json')
  rmSync(report, { force: true })
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const limit = `--testTimeout=${TEST_LIMIT_MS}`
  const args = [vitest, 'run', file, limit, '--maxWorkers=1', '--reporter=json', `--outputFile=${report}`]
  if (test !== undefined) args.push('--testNamePattern', test)
  if (bail) args.push('--bail=1')
  const startMs = performance.now()
  const env = { ...process.env, GPUNVME_TIER: 'all' }
  const child = spawn(process.execPath, args, { cwd: root, env, detached: true, stdio: 'ignore' })
  running = child.pid
  let late = false
  const timer = setTimeout(
    () => {
      late = true
      stopTests()
    },
    Math.max(MIN_LIMIT_MS, MAX_SLOWDOWN * baselineMs),
  )
  const [code] = await once(child, 'exit')
  clearTimeout(timer)
  running = undefined
  const ms = performance.now() - startMs
  if (late) return { ms, error: `${file} did not end within its time limit` }
  if (!existsSync(report)) return { ms, error: `vitest wrote no report for ${file}` }
  const suite = JSON.parse(readFileSync(report, 'utf8')).testResults.find(({ name }) => name === join(root, file))
  if (suite === undefined) return { ms, error: `vitest did not run ${file}` }
  const of = (status) => suite.assertionResults.filter((each) => each.status === status)
  const failed = of('failed').map(({ fullName, failureMessages }) => ({
    name: fullName,
    says: failureMessages.join('\n'),
  }))
  const uncompiled = failed.find(({ says }) => COMPILE_ERROR.test(says))
  if (uncompiled !== undefined) return { ms, error: uncompiled.says }
  // A file that does not load or a hook that fails is not reported as a failed test.
  if (failed.length === 0 && code !== 0) return { ms, error: suite.message || `${file}: a hook fails` }
  const [passed, skips] = [of('passed'), [...of('skipped'), ...of('pending')]].map((all) =>
    all.map((each) => each.fullName),
  )
  return { ms, failed, passed, skips }
}

/** Returns the verdict on a row - `caught`, `escaped`, `skipped` or `error` - and its evidence. */
export async function judge(root, row, baselines) {
  const by = []
  for (const file of row.caughtBy) {
    const { test, says } = row
    const result = await runTests(root, file, { test, bail: says === undefined, baselineMs: baselines.get(file) })
    if (result.error !== undefined) return { verdict: 'error', by: result.error }
    if (result.failed.length === 0) {
      if (result.passed.length > 0) return { verdict: 'escaped', by: `${file} passes` }
      const isMissing = row.needs !== undefined && result.skips.length > 0
      return { verdict: isMissing ? 'skipped' : 'error', by: `${file}: all tests skipped` }
    }
    const proof = result.failed.find((each) => says === undefined || new RegExp(says, 'su').test(each.says))
    if (proof === undefined)
      return { verdict: 'error', by: `${file} fails, but its output does not match ${says}:\n${result.failed[0].says}` }
    by.push(proof.name)
  }
  return { verdict: 'caught', by: by.join('; ') }
}
