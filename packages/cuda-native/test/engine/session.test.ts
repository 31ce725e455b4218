import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { sanitized } from '../device/bytes.js'
import { hasCompiler, skippedWithoutCompiler, useCompiler, type Change } from '../device/compile.js'

const { compile } = useCompiler()

const root = join(import.meta.dirname, '../..')
const withoutNode = [`-I${join(root, 'test/engine/without-node')}`]
const session = ['test/engine/session_test.cc', 'native/engine/session.cc']
const onThreads = { sources: [...session, 'native/engine/cpu_executor.cc'], flags: withoutNode }
const onStandin = {
  sources: [
    ...[...session, 'native/engine/cuda_executor.cc', 'native/engine/report_watch.cc', 'native/cuda/parking.cc'],
    'native/cuda/driver.cc',
    'test/standin/libcuda.cc',
  ],
  flags: [...withoutNode, '-DOVER_STANDIN'],
}

const racing = ['-O1', '-fsanitize=thread']
/**
 * What ThreadSanitizer does not know: fences, which doorbells stand for here, and that memory at two addresses is the
 * same, of which the stand-in has one then.
 */
const forThreadSanitizer: readonly Change[] = [
  {
    path: 'cuda/cpu_port.cuh',
    from: 'static void fence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }',
    to: 'static void fence() {}',
  },
  {
    path: 'cuda/cpu_port.cuh',
    from: 'mmio_store32(uint32_t* at, uint32_t value) { __atomic_store_n(at, value, __ATOMIC_RELAXED); }',
    to: 'mmio_store32(uint32_t* at, uint32_t value) { __atomic_store_n(at, value, __ATOMIC_RELEASE); }',
  },
  {
    path: 'test/standin/libcuda.cc',
    from: 'void* device = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);',
    to: 'void* device = host;',
  },
]

const ROUNDS = '30'
const seeds = ['1', '2']

describe.skipIf(!hasCompiler)(`sessions of leaders, whose plans and launches race${skippedWithoutCompiler}`, () => {
  test.each([
    ['threads, under ThreadSanitizer', onThreads, racing, forThreadSanitizer],
    ['threads, with all memory watched', onThreads, sanitized, []],
    ['the stand-in, under ThreadSanitizer', onStandin, racing, forThreadSanitizer],
    ['the stand-in, with all memory watched', onStandin, sanitized, []],
  ])(
    'have one right outcome for each command on %s',
    async (_, { sources, flags }, checks, changes) => {
      const program = await compile({ sources, flags: [...flags, ...checks], changes })
      for (const seed of seeds) {
        expect(await program.attempt([seed, ROUNDS])).toMatchObject({ status: 0, stderr: '' })
      }
    },
    240_000,
  )

  const planted: readonly [string, typeof onThreads, Change][] = [
    [
      'outcomes that are not there before their plan is done: no release',
      onThreads,
      {
        path: 'cuda/submit.cuh',
        from: 'Port::store_release64(&pair.shares[number % SHARES].done, 1)',
        to: 'Port::store_relaxed64(&pair.shares[number % SHARES].done, 1)',
      },
    ],
    [
      'a plan that is not there before it is posted: no release',
      onThreads,
      {
        path: 'native/engine/session.cc',
        from: '    Store(queue.control, (control & ~CONTROL_POSTED) | queue.posted);',
        to: '    __atomic_store_n(queue.control, (control & ~CONTROL_POSTED) | queue.posted, __ATOMIC_RELAXED);',
      },
    ],
    [
      'reports that are added to those that are watched without the lock',
      onStandin,
      {
        path: 'native/engine/report_watch.cc',
        from: '    const std::lock_guard<std::mutex> lock(mutex_);\n    added_.push_back',
        to: '    added_.push_back',
      },
    ],
  ]
  test.each(planted)(
    'are found out, %s',
    async (_, { sources, flags }, change) => {
      const changes = [...forThreadSanitizer, change]
      const program = await compile({ sources, flags: [...flags, ...racing], changes })
      const { status, stderr } = await program.attempt(['1', ROUNDS], { env: { TSAN_OPTIONS: 'exitcode=66' } })
      expect(stderr).toContain('data race')
      expect(status).not.toBe(0)
    },
    240_000,
  )
})
