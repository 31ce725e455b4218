// Runs the tests of a tier and prints a summary last. A failing step does not stop the others.
//
//   npm run test:unit             unit tests: no process, no native code, no socket
//   npm test                      format, types, lint, and every test outside of the lists heavy and slow
//   npm test -- FILE…             the test files whose path contains FILE, whatever their tier
//   npm run test:all              everything, part by part
//   npm run test:all -- PART…     these parts
//
// docs/how-to/testing.md describes tiers and parts; test/tiers.json assigns files to them.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { judge, render } from './test-summary.mjs'
import { isIn, tiers } from './tiers.mjs'

/** If more files fail than this, they probably have one cause: none is run again. */
const MAX_RETRIED_FILES = 20

const root = join(import.meta.dirname, '..')
/** Builds native programs of tests in parallel. A test that finds its program missing builds it. */
const buildPrograms = 'node packages/cuda-native/scripts/build-tests.mjs'
const guests = '--config=vitest.guests.config.ts'

/** Parts: `commands`, then a vitest run by its arguments and environment; `native` if the part uses native addons. */
const parts = {
  unit: { vitest: [], env: { GPUNVME_TIER: 'unit' } },
  test: {
    commands: [
      `${buildPrograms} standin/ headers/ checksum/`,
      'oxfmt --check .',
      'oxlint',
      `turbo run check:root typecheck --continue --output-logs=errors-only --concurrency=${availableParallelism()}`,
    ],
    vitest: [],
    native: true,
  },
  heavy: { commands: [buildPrograms], vitest: tiers.heavy, env: { GPUNVME_TIER: 'heavy' }, native: true },
  slow: { vitest: tiers.slow, env: { GPUNVME_TIER: 'all' }, native: true },
  qemu: { vitest: tiers.qemu, env: { GPUNVME_TIER: 'all', GPUNVME_REQUIRE: 'qemu' } },
  mutants: { commands: ['node scripts/mutants/run.mjs'], native: true },
  kernels: { commands: ['node kmod/scripts/kernels.mjs'] },
  campaign: { commands: ['node scripts/dst.mjs --seeds 2000'] },
  guests: { vitest: [guests], native: true },
  'guests:full': { vitest: [guests], env: { GPUNVME_VM: 'full' }, native: true },
}
const everything = ['test', 'heavy', 'slow', 'mutants', 'kernels', 'campaign', 'guests:full']

const selected = select(process.argv.slice(2))
const failedSteps = []
const first = { files: [], errors: [] }
const second = { files: [], errors: [] }

run('turbo run build --output-logs=errors-only'.split(' '))
if (selected.some(({ native }) => native)) run(['node', 'packages/cuda-native/scripts/build-native.mjs'])
for (const { commands = [], vitest, env } of selected) {
  for (const command of commands) run(command.split(' '))
  if (vitest !== undefined) runTests(vitest, env)
}

const requirements = [process.env, ...selected.map(({ env }) => env)].map((env) => env?.GPUNVME_REQUIRE ?? '')
const required = requirements.flatMap((kinds) => kinds.split(',')).filter((kind) => kind !== '')
const verdict = judge(first, second, isRetriable, required)
verdict.problems.push(...failedSteps)
console.log(`\n${render(verdict).join('\n')}`)
process.exitCode = verdict.failed.length + verdict.problems.length > 0 ? 1 : 0

/** @returns the parts that the arguments name. Words after one part are arguments of vitest. */
function select([name, ...words]) {
  const names = name !== 'all' ? [name] : words.length > 0 ? words : everything
  const unknown = names.filter((each) => !Object.hasOwn(parts, each))
  if (unknown.length > 0) {
    console.error(`test: unknown part ${unknown.join(', ')}; known: all, ${Object.keys(parts).join(', ')}`)
    process.exit(2)
  }
  if (name === 'all' || words.length === 0) return names.map((each) => parts[each])
  if (name !== 'test') return [{ ...parts[name], vitest: [...parts[name].vitest, ...words] }]
  return [{ vitest: words, env: { GPUNVME_TIER: process.env.GPUNVME_TIER ?? 'all' }, native: true }]
}

/** Runs a program of the workspace. The summary reports a failure. */
function run(command, env = {}) {
  console.log(`\n> ${command.join(' ')}`)
  const started = performance.now()
  const { status, signal, error } = spawnSync(command[0], command.slice(1), {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: 'inherit',
  })
  if (signal === 'SIGINT') process.exit(130)
  console.log(`  ${Math.round((performance.now() - started) / 1000)} s`)
  if (status !== 0) failedSteps.push(`${command.join(' ')}: ${error?.message ?? signal ?? `exit status ${status}`}`)
}

/** Runs test files, then only those that failed a second time. */
function runTests(args, env = {}) {
  const report = runVitest(args, env, 'tests')
  if (report === undefined) return
  add(first, report)
  const failed = report.files.filter((file) => file.failed.length > 0).map(({ file }) => file)
  if (failed.length === 0 || failed.length > MAX_RETRIED_FILES) return
  const options = args.filter((arg) => arg.startsWith('-'))
  const again = runVitest([...options, ...failed], { ...env, GPUNVME_TIER: 'all' }, 'again')
  if (again !== undefined) add(second, again)
}

/** @returns the report of a run; undefined if it left none, which is a failed step. */
function runVitest(args, env, name) {
  const path = join(root, '.reports', `${name}.json`)
  rmSync(path, { force: true })
  const failedBefore = failedSteps.length
  run(['vitest', 'run', ...args], { ...env, GPUNVME_REPORT: name })
  if (!existsSync(path)) return undefined
  // The report lists the failures. The exit status adds nothing, and counts tests that pass when run again as failed.
  failedSteps.length = failedBefore
  const report = JSON.parse(readFileSync(path, 'utf8'))
  if (report.files.length === 0) failedSteps.push(`no test file matches ${args.join(' ') || 'the tier'}`)
  return report
}

function add(to, { files, errors }) {
  to.files.push(...files)
  to.errors.push(...errors)
}

function isRetriable(file) {
  return isIn(file, 'processes') || file.includes('/test/vm/')
}
