import { describe, expect, test } from 'vitest'
import { sanitized } from './bytes.js'
import { hasCompiler, skippedWithoutCompiler, useCompiler, type Change } from './compile.js'

const { compile } = useCompiler()
const sources = ['test/device/race_test.cc']
const checked = ['-O1', '-fsanitize=thread']
const seeds = ['1', '2', '3']

describe.skipIf(!hasCompiler)(`a leader, a controller and a host on three threads${skippedWithoutCompiler}`, () => {
  test('have no race, under ThreadSanitizer', async () => {
    const program = await compile({ sources, flags: checked })
    for (const seed of seeds) expect(await program.attempt([seed])).toMatchObject({ status: 0, stderr: '' })
  }, 120_000)

  test('use no memory that is not theirs', async () => {
    const program = await compile({ sources, flags: sanitized })
    for (const seed of seeds) expect(await program.attempt([seed])).toMatchObject({ status: 0, stderr: '' })
  }, 120_000)

  const planted: readonly [string, RegExp, Change][] = [
    [
      'entries that are not there before their doorbell: no fence',
      /data race.*\n +Read of size \d+ at .*\n +#0 model::Controller::fetch(?:.*\n)+? +Previous write of size \d+ .*\n +#0 gpunvme::CpuPort::store16/,
      { path: 'cuda/submit.cuh', from: '  Port::fence();\n', to: '' },
    ],
    [
      'data that is not there before its completion: no acquire',
      /data race.*\n +Read of size \d+ at .* by main thread:\n +#0 model::Rig::judge/,
      { path: 'cuda/complete.cuh', from: 'Port::load_completion64(leader.cq', to: 'Port::load_relaxed64(leader.cq' },
    ],
    [
      'outcomes that are not there before their share is done: no release',
      /data race.*\n +(Read|Write) of size \d+ at .* by main thread:/,
      {
        path: 'cuda/submit.cuh',
        from: 'Port::store_release64(&pair.shares[number % SHARES].done, 1)',
        to: 'Port::store_relaxed64(&pair.shares[number % SHARES].done, 1)',
      },
    ],
    [
      'a plan that is not there before it is posted: no acquire',
      /data race.*\n +Read of size \d+ at .*\n +#0 (obey|write_command)/,
      { path: 'cuda/serve.cuh', from: 'Port::load_acquire64(pair.control)', to: 'Port::load_relaxed64(pair.control)' },
    ],
  ]
  test.each(planted)(
    'are found out, %s',
    async (_, report, change) => {
      const program = await compile({ sources, flags: checked, changes: [change] })
      const { status, stderr } = await program.attempt(['1'], { env: { TSAN_OPTIONS: 'exitcode=66' } })
      expect(status).not.toBe(0)
      expect(stderr).toMatch(report)
    },
    120_000,
  )
})
