import { describe, expect, test } from 'vitest'
import { reserveHugePages } from '../huge-pages.js'
import { BUILD_MS, hasCompiler, program, seedsOf, skippedWithoutCompiler } from '../programs/program.js'

const ROUNDS = '300'
const seeds = seedsOf('1', '2', '3')

describe.skipIf(!hasCompiler)(`files truncated while threads access them${skippedWithoutCompiler}`, () => {
  test.each([
    ['without a sanitizer', 'foreign/plain'],
    ['under ThreadSanitizer', 'foreign/threads'],
    ['under AddressSanitizer', 'foreign/memory'],
  ])(
    'read as zeros, and no adjacent memory changes, %s',
    async (_, name) => {
      const foreign = await program(name)
      using pages = reserveHugePages(2)
      const stdout = pages === undefined ? /^with(out)? huge pages$/m : /^with huge pages$/m
      for (const seed of seeds) expect(await foreign.run([seed, ROUNDS], { timeoutMs: 60_000 })).toMatch(stdout)
    },
    BUILD_MS,
  )
})
