import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'
import { tiers } from './scripts/tiers.mjs'
import { LongestFirst } from './test/longest-first.js'

/** Returns the entries of these lists of test/tiers.json as globs; an entry that ends in a slash is a folder. */
const globs = (...lists: string[]) =>
  lists.flatMap((list) => tiers[list]!).map((entry) => (entry.endsWith('/') ? `${entry}**/*.test.ts` : entry))

const tier = process.env['GPUNVME_TIER'] ?? 'test'
if (!['unit', 'test', 'heavy', 'stripped', 'all'].includes(tier))
  throw new Error(`GPUNVME_TIER: expected unit, test, heavy, stripped or all, got ${JSON.stringify(tier)}`)

const tests = ['packages/*/{src,conformance,dst,calibration,test}/**/*.test.ts', 'test/**/*.test.ts']
const outside = globs('processes', 'native', 'long', 'alone', 'slow')
/** Test files of cuda-native. Without native code, most of their tests are skipped, so that the files can share processes. */
const ofNative = globs('processes', 'native').filter((path) => path.startsWith('packages/cuda-native/'))
const sharing = tier === 'stripped' ? ofNative : []
/** Files that each have a process of their own. */
const apart = globs('processes', 'native', 'alone', 'slow').filter((path) => !sharing.includes(path))
/** Files that the tier leaves out. */
const left = tier === 'all' ? [] : tier === 'test' ? globs('heavy', 'slow') : globs('slow')
/** Settings of all projects. Other packages are loaded as they are published, by Node: faster than as modules of vitest. */
const shared = {
  // For tests that hang: no test may fail because the machine is busy.
  testTimeout: 240_000,
  hookTimeout: 240_000,
  globalSetup: ['test/run-folder.ts'],
  server: { deps: { external: [/\/packages\/[a-z-]+\/dist\//] } },
}

/** All suites in one run (docs/how-to/testing.md): GPUNVME_TIER selects the files. */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...shared,
          name: 'unit',
          include: tests,
          exclude: [...configDefaults.exclude, '**/dist/**', ...outside],
          // Unit tests share their imports and may not use anything outside of their process.
          isolate: false,
          pool: 'threads',
          setupFiles: ['test/unit-guard.ts'],
        },
      },
      {
        test: {
          ...shared,
          name: 'long',
          include: tier === 'unit' ? [] : [...globs('long'), ...sharing],
          exclude: [...configDefaults.exclude, '**/dist/**', ...apart, ...left],
          // Each process keeps its imports from file to file.
          isolate: false,
        },
      },
      {
        test: {
          ...shared,
          name: 'others',
          include: tier === 'unit' ? [] : apart,
          exclude: [...configDefaults.exclude, '**/dist/**', ...left],
        },
      },
    ],
    // Many tests wait for processes and timers. On 2 processors, 2 and 4 workers took 1.13 and 1.21 times as long as 3.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    passWithNoTests: true,
    reporters: ['default', './scripts/test-reporter.mjs'],
  },
})
