// Compiles gpu-check/build/gpunvme_null.node, the null controller of speed figures, where g++ is. It asks no network.
// Without a compiler nothing is built, and the speed figures are left out.
//
//   node gpu-check/build-null.mjs [FILE]
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'

const require = createRequire(import.meta.url)
const here = import.meta.dirname
const target = resolve(process.argv[2] ?? join(here, 'build/gpunvme_null.node'))
const specInclude = join(dirname(require.resolve('@gpunvme/nvme-spec/package.json')), 'include')
const includes = [require('node-api-headers').include_dir, specInclude, join(here, '../cuda'), join(here, 'kernels')]

mkdirSync(dirname(target), { recursive: true })
const { status, error } = spawnSync(
  process.env.CXX ?? 'g++',
  [
    ...['-std=c++17', '-O2', '-Wall', '-Wextra', '-Werror', '-pthread', '-shared', '-fPIC', '-fvisibility=hidden'],
    ...['-Wl,-s', '-DNAPI_VERSION=8'],
    ...includes.map((folder) => `-I${folder}`),
    ...['-o', target],
    ...['addon.cc', 'count.cc', 'null_controller.cc'].map((name) => join(here, 'native', name)),
  ],
  { stdio: ['ignore', 'inherit', 'inherit'] },
)
if (error?.code === 'ENOENT') console.log('gpunvme_null is not built: g++ not found. Speed figures need it.')
else if (status !== 0) {
  console.error(`build-null: ${error?.message ?? 'gpunvme_null does not compile'}`)
  process.exit(1)
}
