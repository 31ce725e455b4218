import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { fuzzer, testFuzzer } from '../../../../test/fuzz/fuzz.js'
import { isBuilt, skipped } from '../native.js'
import { compilerProblem } from '../programs/build.mjs'
import { BUILD_MS, hasCompiler, skippedWithoutCompiler } from '../programs/program.js'
import { releaseAddon, run, runEvery, sanitizedAddon, type Target } from './addon-arguments.mjs'

const LIMIT_MS = 300_000
/** Number of calls of one fuzzer input. Each input runs in a separate process, which may crash. */
const CALLS = 2000

describe.skipIf(!hasCompiler)(`the addon under sanitizers${skippedWithoutCompiler}`, () => {
  let target: Target | undefined
  beforeAll(async () => {
    target = await sanitizedAddon()
  }, BUILD_MS)

  test(
    'every exported function rejects every wrong argument with a typed error',
    async () => {
      const { inputs, failure } = await runEvery(target)
      expect(failure).toBeUndefined()
      expect(inputs).toBeGreaterThan(10_000)
    },
    LIMIT_MS,
  )
})

describe.skipIf(!isBuilt)(`the fuzzer of arguments${skipped}`, () => {
  test(
    'calls a function that was added, and names the seed and the call that ended the process',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'gpunvme-addon-'))
      try {
        const addon = join(folder, 'addon.cjs')
        // The first argument, by name.
        const added = 'aaa: (word) => typeof word === "symbol" && process.kill(process.pid, "SIGSEGV")'
        writeFileSync(addon, `module.exports = { ...require(${JSON.stringify(releaseAddon)}), ${added} }`)
        expect(await runEvery({ addon })).toEqual({
          inputs: 4,
          failure: { seed: 'every', call: '4 aaa(argument 0: symbol)', output: 'the process ended with SIGSEGV\n' },
        })
      } finally {
        rmSync(folder, { recursive: true })
      }
    },
    LIMIT_MS,
  )
})

const problem = compilerProblem()
testFuzzer(
  fuzzer('addon', async (dice) => {
    const { failure } = await run({ seed: dice.int(1, 2 ** 31), iterations: CALLS, target: await sanitizedAddon() })
    if (failure !== undefined) throw new Error(`${failure.call}\n${failure.output}`)
    return 'no harm'
  }),
  2,
  ['no harm'],
  problem && `[native] ${problem}`,
)
