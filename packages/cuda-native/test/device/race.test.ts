import { describe, test } from 'vitest'
import { BUILD_MS, hasCompiler, program, seedsOf, skippedWithoutCompiler } from '../programs/program.js'

const seeds = seedsOf('1', '2', '3')

describe.skipIf(!hasCompiler)(`a leader, a controller and a host on threads${skippedWithoutCompiler}`, () => {
  test.each([
    ['have no race, under ThreadSanitizer', 'device/race-threads', 'thread'],
    ['access no memory but their own, under AddressSanitizer', 'device/race-memory', 'thread'],
    [
      'have no race of lanes of a warp that only sync_warp orders, under ThreadSanitizer',
      'device/race-threads',
      'warp',
    ],
  ])(
    '%s',
    async (_, name, leader) => {
      const race = await program(name)
      for (const seed of seeds) await race.run([seed, leader])
    },
    BUILD_MS,
  )
})
