// Runs a task of this repository, or the given program, with the workspace's programs on PATH. First installs the
// dependencies with the pinned pnpm if the lockfile has changed, so that a fresh clone needs only Node and npm.
import { createHash } from 'node:crypto'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const root = join(import.meta.dirname, '..')
const stampFile = join(root, 'node_modules', '.gpunvme-install')
const stamp = createHash('sha256')
  .update(process.version)
  .update(readFileSync(join(root, 'pnpm-lock.yaml')))
  .update(readFileSync(join(root, 'pnpm-workspace.yaml')))
  .digest('hex')

const buildSpec = 'turbo run build --filter=@gpunvme/nvme-spec --output-logs=errors-only'
// The command `gpunvme` and the packages that it imports.
const buildCommand = 'tsc -b --noCheck packages/tools/tsconfig.build.json'
const buildGpuCheck = [
  'turbo run build --filter=@gpunvme/cuda-native --output-logs=errors-only',
  'node packages/cuda-native/scripts/build-native.mjs',
  'node packages/cuda-native/gpu-check/build-native.mjs',
]
const tasks = {
  demo: [buildCommand, 'node packages/tools/bin/gpunvme.js demo'],
  // docs/how-to/testing.md describes the tiers and their parts.
  test: ['node scripts/test.mjs test'],
  'test:unit': ['node scripts/test.mjs unit'],
  'test:all': ['node scripts/test.mjs all'],
  mutants: ['node scripts/mutants/run.mjs'],
  'test:qemu': ['node scripts/test.mjs qemu'],
  'test:vm': ['node scripts/test.mjs guests'],
  'test:vm:changed': ['node scripts/guests.mjs'],
  'test:stripped': ['turbo run build --output-logs=errors-only', 'node scripts/environments.mjs bare --machine'],
  'test:in': ['node scripts/environments.mjs'],
  'test:vm:full': ['node scripts/test.mjs guests:full'],
  // Benchmarks a drive served over vfio-user and QEMU's drive, alternately in one guest: docs/evidence/vfio-user.md.
  'bench:vfio-user': [
    'turbo run build --output-logs=errors-only',
    'node packages/cuda-native/scripts/build-native.mjs',
    'vitest run --root packages/tools --config vitest.vfio-user.config.ts',
  ],
  // Benchmarks host-driver, the kernel's driver and libnvm, alternately in such a guest: docs/evidence/peers.md.
  peers: [
    'turbo run build --filter=@gpunvme/cuda-native... --filter=@gpunvme/host-driver... --output-logs=errors-only',
    'node packages/cuda-native/scripts/build-native.mjs',
    'vitest run --root packages/cuda-native --config vitest.peers.config.ts',
  ],
  // Checks the engine cuda on this machine's GPU; exit status 3 without a GPU: docs/evidence/hardware/README.md.
  'test:gpu': [...buildGpuCheck, 'node packages/cuda-native/gpu-check/dist/main.js'],
  // Packs these checks into a folder that runs on a machine with only NVIDIA's driver.
  'gpu-check:pack': [...buildGpuCheck, 'node scripts/gpu-check/pack.mjs'],
  // Compiles the module for several kernels with Debian's headers: kmod/README.md.
  'kmod:kernels': ['node kmod/scripts/kernels.mjs'],
  // Packs the packages as they would be published, into tarballs/: docs/start.md.
  tarballs: [
    'turbo run build --output-logs=errors-only',
    'node packages/cuda-native/scripts/build-native.mjs',
    'pnpm --recursive --filter=./packages/* pack --pack-destination=tarballs',
  ],
  // The linter reads the types of other packages from their builds.
  lint: ['turbo run build --output-logs=errors-only', 'oxlint'],
  docs: [buildSpec, 'typedoc'],
  // Generates the files that derive from nvme-spec's declarations, such as the C header, and compiles the kernels' PTX,
  // which depends on the header. Without nvcc, checks instead that the PTX matches its sources. Tests check all files.
  gen: [
    buildSpec,
    'node packages/nvme-spec/scripts/gen.mjs',
    'node packages/cuda-native/scripts/build-ptx.mjs',
    'node packages/cuda-native/scripts/build-ptx.mjs --measure',
  ],
  'gen:check': [
    buildSpec,
    'node packages/nvme-spec/scripts/gen.mjs --check',
    'node packages/cuda-native/scripts/build-ptx.mjs --check',
    'node packages/cuda-native/scripts/build-ptx.mjs --measure --check',
  ],
  bench: [buildCommand, 'node scripts/bench.mjs'],
  // Runs random workloads on the simulator under random faults; scripts/dst.mjs describes the options.
  dst: ['turbo run build --filter=@gpunvme/host-driver --output-logs=errors-only', 'node scripts/dst.mjs'],
  // Fuzzers of readers and protocols; scripts/fuzz.mjs describes the options.
  fuzz: ['turbo run build --output-logs=errors-only', 'node scripts/fuzz.mjs'],
  // One HTML page with simulator, driver and loader in it: docs/how-to/playground.md.
  playground: [
    'turbo run build --filter=@gpunvme/layer-loader --filter=@gpunvme/nvme-sim --output-logs=errors-only',
    'node playground/build.mjs',
  ],
  // One HTML page that decodes bytes and traces: docs/how-to/inspector.md.
  inspector: [buildSpec, 'node inspector/build.mjs'],
  calibrate: ['turbo run build --filter=@gpunvme/nvme-sim --output-logs=errors-only', 'node scripts/calibrate.mjs'],
}

// Preparing steps print to stderr: stdout carries only the result of the command, such as JSON.
const STDERR = 2

function run(command, args, stdout = 'inherit') {
  const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1' }
  env.PATH = join(root, 'node_modules', '.bin') + delimiter + (env.PATH ?? '')
  const { status, signal, error } = spawnSync(command, args, {
    cwd: root,
    env,
    stdio: ['inherit', stdout, 'inherit'],
  })
  if (error) console.error(`bootstrap: cannot run ${command}: ${error.message}`)
  if (status !== 0) process.exit(status ?? (signal === 'SIGINT' ? 130 : 1))
}

const installed = existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp
if (!installed) {
  const pnpm = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).packageManager.split('+')[0]
  console.error('installing the dependencies of this repository')
  run('npx', ['--yes', pnpm, 'install', '--frozen-lockfile', '--prefer-offline'], STDERR)
  writeFileSync(stampFile, stamp)
}

const [name, ...rest] = process.argv.slice(2)
if (name === undefined) {
  console.error(`usage: node scripts/bootstrap.mjs ${Object.keys(tasks).join(' | ')} | PROGRAM [argument …]`)
  process.exit(2)
}
const steps = tasks[name]?.map((step) => step.split(' ')) ?? [[name]]
steps.at(-1).push(...rest)
steps.forEach(([command, ...args], index) => {
  if (command === 'tsc') console.error('building the command gpunvme')
  run(command, args, name !== 'test' && index < steps.length - 1 ? STDERR : 'inherit')
})
