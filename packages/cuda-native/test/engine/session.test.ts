import { describe, test } from 'vitest'
import { BUILD_MS, hasCompiler, program, seedsOf, skippedWithoutCompiler } from '../programs/program.js'

const ROUNDS = '30'
const seeds = seedsOf('1', '2')

describe.skipIf(!hasCompiler)(`sessions of leaders, whose plans and launches race${skippedWithoutCompiler}`, () => {
  test.each([
    ['threads, under ThreadSanitizer', 'engine/session-threads'],
    ['threads, under AddressSanitizer', 'engine/session-memory'],
    ['the stand-in, under ThreadSanitizer', 'engine/standin-threads'],
    ['the stand-in, under AddressSanitizer', 'engine/standin-memory'],
  ])(
    'give each command exactly one correct outcome on %s',
    async (_, name) => {
      const session = await program(name)
      for (const seed of seeds) await session.run([seed, ROUNDS])
    },
    BUILD_MS,
  )
})
