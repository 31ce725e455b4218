// Runs fuzzers: `npm run fuzz -- --seconds 60`. docs/evidence/fuzz.md describes them; options are in `usage` below.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { clearInterval, setInterval } from 'node:timers'
import { parseArgs } from 'node:util'

/** Fuzzers by name, each with the test file that declares it. */
const fuzzers = {
  gguf: 'packages/layer-loader/test/fuzz/model-files.test.ts',
  safetensors: 'packages/layer-loader/test/fuzz/model-files.test.ts',
  'model-parts': 'packages/layer-loader/test/fuzz/model-parts.test.ts',
  image: 'packages/layer-loader/test/fuzz/image.test.ts',
  partitions: 'packages/layer-loader/test/fuzz/partitions.test.ts',
  ext4: 'packages/layer-loader/test/fuzz/file-systems.test.ts',
  fat32: 'packages/layer-loader/test/fuzz/file-systems.test.ts',
  exfat: 'packages/layer-loader/test/fuzz/file-systems.test.ts',
  json: 'packages/tools/test/fuzz/json.test.ts',
  'vfio-user-server': 'packages/nvme-sim/test/fuzz/vfio-user-server.test.ts',
  'vfio-user-client': 'packages/host-driver/test/fuzz/vfio-user-client.test.ts',
  addon: 'packages/cuda-native/test/fuzz/addon-arguments.test.ts',
}

const usage = `usage: npm run fuzz -- [--seconds N] [--seeds N] [--only NAME,…] [--seed S]
  --seconds N   time for each fuzzer in seconds; 10 by default
  --seeds N     number of inputs for each fuzzer, instead of a time
  --only NAME   fuzzers to run: ${Object.keys(fuzzers).join(', ')}
  --seed S      first seed; 1 by default. A failure prints its seed.`

/** Time limit of one input, after which the process is killed. */
const MAX_CASE_MS = 120_000

const root = join(import.meta.dirname, '..')
const folder = join(root, '.reports', 'fuzz')

function usageError(message) {
  console.error(`${message}\n${usage}`)
  process.exit(2)
}

function whole(name, text) {
  const value = Number(text)
  return Number.isSafeInteger(value) && value > 0
    ? value
    : usageError(`--${name}: expected a positive integer, got ${text}`)
}

/** Runs one fuzzer in a separate process. Returns whether every input passed. */
async function run(name, order) {
  const progress = join(folder, name)
  for (const path of [progress, `${progress}.json`]) rmSync(path, { force: true })
  const args = ['run', '--reporter=dot', fuzzers[name], '-t', `fuzz ${name} `]
  const env = { ...process.env, GPUNVME_TIER: 'all', GPUNVME_FUZZ: JSON.stringify({ ...order, progress }) }
  // A separate process group, so that the kill includes hanging workers.
  const child = spawn('vitest', args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
  const ended = new Promise((resolve) => child.once('exit', resolve))

  let [last, sinceMs] = [undefined, performance.now()]
  let hanging = false
  const watch = setInterval(() => {
    const seed = existsSync(progress) ? readFileSync(progress, 'utf8') : undefined
    if (seed !== last) [last, sinceMs] = [seed, performance.now()]
    // Before the first input, the fuzzer creates its valid inputs.
    else if (performance.now() - sinceMs > MAX_CASE_MS && !existsSync(`${progress}.json`)) {
      hanging = true
      process.kill(-child.pid, 'SIGKILL')
    }
  }, 1000)
  const startMs = performance.now()
  const status = await ended
  clearInterval(watch)

  const seed = existsSync(progress) ? readFileSync(progress, 'utf8').trim() : undefined
  const report = existsSync(`${progress}.json`) ? JSON.parse(readFileSync(`${progress}.json`, 'utf8')) : undefined
  if (report === undefined) {
    const what = hanging ? 'timed out' : seed === undefined ? 'did not run' : 'crashed'
    console.log(`${name}: ${seed === undefined ? '' : `seed ${seed} `}${what}\n${output}`)
    return false
  }
  const seconds = Math.round((performance.now() - startMs) / 1000)
  const endings = Object.entries(report.endings).sort(([, a], [, b]) => b - a)
  console.log(
    `${name}: ${report.cases} inputs from seed ${order.seed} in ${seconds} s, ${report.failures.length} failures`,
  )
  for (const [ending, count] of endings) console.log(`  ${String(count).padStart(9)} ${ending}`)
  for (const failure of report.failures) {
    console.log(
      `npm run fuzz -- --only ${name} --seed ${failure.seed} --seeds 1\n${failure.problem}\n(${failure.cases} inputs)`,
    )
  }
  return status === 0
}

const options = {
  ...{ seconds: { type: 'string' }, seeds: { type: 'string' }, seed: { type: 'string', default: '1' } },
  only: { type: 'string', default: Object.keys(fuzzers).join(',') },
}
let values
try {
  ;({ values } = parseArgs({ options }))
} catch (error) {
  usageError(error.message)
}
const seed = whole('seed', values.seed)
const limit =
  values.seeds === undefined
    ? { seconds: whole('seconds', values.seconds ?? '10') }
    : { seeds: whole('seeds', values.seeds) }
const names = values.only.split(',')
const unknown = names.filter((name) => !Object.hasOwn(fuzzers, name))
if (unknown.length > 0) usageError(`--only: no fuzzer ${unknown.join(', ')}`)

mkdirSync(folder, { recursive: true })
let isSound = true
for (const name of names) isSound = (await run(name, { seed, ...limit })) && isSound
process.exitCode = isSound ? 0 : 1
