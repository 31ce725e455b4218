import { describe, test } from 'vitest'
import { BUILD_MS, byTier, hasCompiler, program, seedsOf, skippedWithoutCompiler } from '../programs/program.js'

const ROUNDS = '30'
// A round over the stand-in takes three times as long as one on threads. The bug planted in report_watch.cc is caught
// within 2 rounds.
const ROUNDS_OVER_STANDIN = byTier('10', '30')
const seeds = seedsOf('1', '2')

describe.skipIf(!hasCompiler)(`sessions of leaders, whose plans and launches race${skippedWithoutCompiler}`, () => {
  test.each([
    ['threads, under ThreadSanitizer', 'engine/session-threads', ROUNDS],
    ['threads, under AddressSanitizer', 'engine/session-memory', ROUNDS],
    ['the stand-in, under ThreadSanitizer', 'engine/standin-threads', ROUNDS_OVER_STANDIN],
    ['the stand-in, under AddressSanitizer', 'engine/standin-memory', ROUNDS_OVER_STANDIN],
  ])(
    'give each command exactly one correct outcome on %s',
    async (_, name, rounds) => {
      const session = await program(name)
      for (const seed of seeds) await session.run([seed, rounds])
    },
    BUILD_MS,
  )
})
