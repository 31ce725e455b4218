import { describe, test } from 'vitest'
import { BUILD_MS, hasCompiler, program, seedsOf, skippedWithoutCompiler } from '../programs/program.js'

const seeds = seedsOf('1', '2', '3')

describe.skipIf(!hasCompiler)(`a leader, a controller and a host on three threads${skippedWithoutCompiler}`, () => {
  test.each([
    ['have no race, under ThreadSanitizer', 'device/race-threads'],
    ['access no memory but their own, under AddressSanitizer', 'device/race-memory'],
  ])(
    '%s',
    async (_, name) => {
      const race = await program(name)
      for (const seed of seeds) await race.run([seed])
    },
    BUILD_MS,
  )
})
