import { beforeAll, describe, expect, test } from 'vitest'
import { BUILD_MS, hasCompiler, program, skippedWithoutCompiler, type Program } from '../programs/program.js'

const seeds = Array.from({ length: 12 }, (_, seed) => String(seed))

describe.skipIf(!hasCompiler)(`a warp that reads${skippedWithoutCompiler}`, () => {
  let plain: Program
  let checked: Program
  beforeAll(async () => {
    plain = await program('fibers/warp-read')
    checked = await program('fibers/warp-read-memory')
  }, BUILD_MS)

  test.each(['1', '5', '32', '33', '64', '200'])(
    'gets every outcome and all data, whichever lane comes first (%s commands in flight)',
    async (slots) => {
      for (const seed of seeds) {
        const [commands, doorbells] = (await plain.run([seed, slots])).trim().split(' ').map(Number)
        expect(commands).toBeGreaterThan(80)
        expect(doorbells).toBeLessThanOrEqual(commands!)
      }
    },
  )

  test('reads and writes nothing outside of its queues and lists', async () => {
    for (const seed of seeds) expect(await checked.run([seed, '40'])).toMatch(/^\d+ \d+\n$/)
  })
})
