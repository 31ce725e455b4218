import { beforeAll, describe, expect, test } from 'vitest'
import { sanitized } from '../device/bytes.js'
import { hasCompiler, skippedWithoutCompiler, useCompiler, type Program } from '../device/compile.js'

const { compile } = useCompiler()
const sources = ['test/fibers/warp_read_test.cc']
const seeds = Array.from({ length: 12 }, (_, seed) => String(seed))

describe.skipIf(!hasCompiler)(`a warp that reads${skippedWithoutCompiler}`, () => {
  let plain: Program
  let checked: Program
  beforeAll(async () => {
    plain = await compile({ sources })
    checked = await compile({ sources, flags: sanitized })
  }, 300_000)

  test.each(['1', '5', '32', '33', '64', '200'])(
    'gets every outcome and all data, whichever lane comes first (%s commands in flight)',
    async (slots) => {
      for (const seed of seeds) {
        const [commands, doorbells] = (await plain.run([seed, slots])).trim().split(' ').map(Number)
        expect(commands).toBeGreaterThan(80)
        // Half of the queue with each, apart from a share's last and those for which the controller had to be waited.
        expect(doorbells).toBeLessThanOrEqual(
          Math.ceil((commands! / Math.max(1, Math.floor(Number(slots) / 2))) * 1.5) + 2,
        )
      }
    },
  )

  test('reads and writes nothing outside of its queues and lists', async () => {
    for (const seed of seeds) expect(await checked.run([seed, '40'])).toMatch(/^\d+ \d+\n$/)
  })

  test.each([
    [
      'a doorbell before all entries are there',
      'cuda/warp_read.cuh',
      '    }\n    Team::sync_warp(Team::kAllLanes);\n  }',
      '    }\n  }',
    ],
    [
      'an order that is not there yet',
      'cuda/warp_read.cuh',
      'now_ns};\n      Team::sync_warp(Team::kAllLanes);',
      'now_ns};',
    ],
    ['helpers that do not wait', 'cuda/warp_read.cuh', 'Team::sync_warp(Team::kAllLanes);\n      if', 'if'],
    ['one slot for all lanes', 'cuda/warp_read.cuh', 'pair.next_free, lane', 'pair.next_free, 0'],
    ['no fence', 'cuda/submit.cuh', 'Port::fence();', ''],
  ])(
    '%s is found',
    async (_, path, from, to) => {
      const program = await compile({ sources, changes: [{ path, from, to }] })
      const ended = await Promise.all(seeds.map((seed) => program.attempt([seed, '40'])))
      expect(ended.filter(({ status }) => status !== 0).length).toBeGreaterThan(0)
    },
    180_000,
  )
})
