// Sources and flags of the native programs of tests. Paths are relative to the package's root.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Sanitizers of memory accesses. Without optimization, since compiling takes longer than running, and -O0 halves it. */
const memory = ['-O0', '-fsanitize=address,undefined', '-fno-sanitize-recover=all']
const threads = ['-O1', '-fsanitize=thread']
const plain = ['-O1']
const library = ['-shared', '-fPIC']

const withoutNode = ['-Itest/engine/without-node']
const session = ['session', 'leader_memory', 'checks', 'doorbell_proxy'].map((name) => `native/engine/${name}.cc`)
const onThreads = ['test/engine/session_test.cc', ...session, 'native/engine/cpu_executor.cc']
const onStandin = [
  ...['test/engine/session_over_standin_test.cc', ...session],
  ...['native/engine/cuda_executor.cc', 'native/engine/report_watch.cc', 'native/cuda/parking.cc'],
  ...['native/cuda/driver.cc', 'test/standin/libcuda.cc', 'test/standin/registration.cc'],
]
const standin = ['libcuda', 'kernels', 'registration'].map((name) => `test/standin/${name}.cc`)

/** Headers of device code that g++ can compile; those that only nvcc can compile begin with `gpu_`. */
export const headers = readdirSync(join(import.meta.dirname, '../../cuda')).filter((name) =>
  /^(?!gpu_).*\.cuh$/.test(name),
)

/** Sources of the addon gpunvme_host, from binding.gyp. */
const addonSources = [
  ...(/'gpunvme_host'.*?'sources': \[(.*?)\]/s
    .exec(readFileSync(join(import.meta.dirname, '../../native/binding.gyp'), 'utf8'))?.[1]
    ?.matchAll(/'(.*?)'/g) ?? []),
].map(([, name]) => `native/${name}`)

/** @type {Readonly<Record<string, { readonly sources: readonly string[]; readonly flags: readonly string[] }>>} */
export const programs = {
  'checksum/crc32': { sources: ['test/checksum/crc32_test.cc', 'native/crc32.cc'], flags: plain },
  'checksum/crc32-memory': { sources: ['test/checksum/crc32_test.cc', 'native/crc32.cc'], flags: memory },
  'device/cases': { sources: ['test/device/cases_test.cc'], flags: memory },
  'device/schedules': { sources: ['test/device/schedules_test.cc'], flags: plain },
  'device/grid': { sources: ['test/device/grid_test.cc'], flags: plain },
  'device/grid-memory': { sources: ['test/device/grid_test.cc'], flags: memory },
  'device/race-threads': { sources: ['test/device/race_test.cc'], flags: threads },
  'device/race-memory': { sources: ['test/device/race_test.cc'], flags: memory },
  'device/shared-queue': { sources: ['test/device/shared_queue_test.cc'], flags: plain },
  'device/shared-queue-memory': { sources: ['test/device/shared_queue_test.cc'], flags: memory },
  'device/shared-cases': { sources: ['test/device/shared_cases_test.cc'], flags: memory },
  'device/shared-threads': { sources: ['test/device/shared_race_test.cc'], flags: threads },
  'device/shared-threads-memory': { sources: ['test/device/shared_race_test.cc'], flags: memory },
  'device/layout': { sources: ['test/device/layout_test.cc'], flags: memory },
  'device/fetch': { sources: ['test/device/fetch_test.cc'], flags: plain },
  'device/fetch-memory': { sources: ['test/device/fetch_test.cc'], flags: memory },
  'device/fetch-cases': { sources: ['test/device/fetch_cases_test.cc'], flags: memory },
  'device/fetch-threads': { sources: ['test/device/fetch_race_test.cc'], flags: threads },
  'device/fetch-threads-memory': { sources: ['test/device/fetch_race_test.cc'], flags: memory },
  'device/array': { sources: ['test/device/array_test.cc'], flags: plain },
  'device/array-memory': { sources: ['test/device/array_test.cc'], flags: memory },
  'device/array-cases': { sources: ['test/device/array_cases_test.cc'], flags: memory },
  'device/array-lanes': { sources: ['test/device/array_lanes_test.cc'], flags: plain },
  'device/array-threads': { sources: ['test/device/array_race_test.cc'], flags: threads },
  'device/array-threads-memory': { sources: ['test/device/array_race_test.cc'], flags: memory },
  'device/prp': { sources: ['test/device/prp_test.cc'], flags: memory },
  'device/checksum': { sources: ['test/device/checksum_test.cc'], flags: plain },
  'device/checksum-memory': { sources: ['test/device/checksum_test.cc'], flags: memory },
  'device/scatter': { sources: ['test/device/scatter_test.cc'], flags: plain },
  'device/scatter-memory': { sources: ['test/device/scatter_test.cc'], flags: memory },
  'device/pattern': { sources: ['test/device/pattern_test.cc'], flags: memory },
  'gpu-check/pattern-drive': {
    sources: ['test/gpu-check/pattern_drive_test.cc'],
    flags: [...memory, '-Igpu-check/kernels'],
  },
  'gpu-check/pattern-completions': {
    sources: ['test/gpu-check/pattern_completions_test.cc'],
    flags: [...memory, '-Igpu-check/kernels'],
  },
  'fibers/team': { sources: ['test/fibers/fiber_team_test.cc'], flags: plain },
  'fibers/team-memory': { sources: ['test/fibers/fiber_team_test.cc'], flags: memory },
  'engine/watch': {
    sources: ['test/engine/watch_test.cc', ...session],
    flags: [...withoutNode, ...memory],
  },
  'engine/session-threads': { sources: onThreads, flags: [...withoutNode, ...threads] },
  'engine/session-memory': { sources: onThreads, flags: [...withoutNode, ...memory] },
  'engine/standin-threads': { sources: onStandin, flags: [...withoutNode, ...threads] },
  'engine/standin-memory': { sources: onStandin, flags: [...withoutNode, ...memory] },
  'foreign/plain': { sources: ['test/foreign/foreign_test.cc', 'native/foreign.cc', 'native/region.cc'], flags: plain },
  'foreign/memory': {
    sources: ['test/foreign/foreign_test.cc', 'native/foreign.cc', 'native/region.cc'],
    flags: memory,
  },
  'foreign/threads': {
    sources: ['test/foreign/foreign_test.cc', 'test/foreign/foreign_under_tsan.cc', 'native/region.cc'],
    flags: threads,
  },
  'standin/libcuda': { sources: standin, flags: [...library, '-O2'] },
  ...Object.fromEntries(
    ['without-cuInit', 'without-registration', 'without-loading'].map((name) => [
      `standin/${name}`,
      { sources: standin, flags: [...library, '-O2', `-Wl,--version-script=test/standin/${name}.map`] },
    ]),
  ),
  'standin/read-block': { sources: [...standin, 'test/standin/read_block.cc'], flags: [...library, '-O2'] },
  'standin/gpu-check': {
    sources: [...standin, 'test/gpu-check/kernels.cc'],
    flags: [...library, '-O2', '-Igpu-check/kernels'],
  },
  'standin/array': { sources: [...standin, 'test/standin/array_example.cc'], flags: [...library, '-O2', '-I.'] },
  'standin/fetch': {
    sources: [...standin, 'test/standin/fetch_example.cc'],
    flags: [...library, '-O2', '-I.'],
  },
  'gpu-check/drive-load': { sources: ['test/gpu-check/drive_load_test.cc'], flags: [...plain, '-Igpu-check/kernels'] },
  'gpu-check/drive-threads': {
    sources: ['test/gpu-check/drive_threads_test.cc', 'gpu-check/native/drive_threads.cc'],
    flags: [...plain, '-Igpu-check/kernels'],
  },
  'gpu-check/drive.node': {
    sources: ['addon.cc', 'count.cc', 'drive_threads.cc'].map((name) => `gpu-check/native/${name}`),
    flags: [
      ...[...library, '-O2', '-fvisibility=hidden', '-Wl,-s', '-DNAPI_VERSION=8'],
      ...['-Inode_modules/node-api-headers/include', '-Igpu-check/kernels'],
    ],
  },
  'fuzz/host-memory.node': {
    sources: addonSources,
    flags: [
      ...[...library, ...memory, '-fvisibility=hidden', '-DNAPI_VERSION=8', '-D_GNU_SOURCE'],
      ...['-Inode_modules/node-api-headers/include', '-Inative/engine'],
    ],
  },
  'headers/kernels': { sources: ['test/ptx/all_kernels.cc'], flags: [...library, '-O0'] },
  ...Object.fromEntries(
    headers.map((name) => [
      `headers/${name}`,
      { sources: ['test/ptx/one_header.cc'], flags: [...library, '-O0', `-DHEADER="${name}"`] },
    ]),
  ),
}
