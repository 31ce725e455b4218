import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

/** All suites in one run: every package, and the repository as a whole (layering, packed tarballs, the README's examples). */
export default defineConfig({
  test: {
    projects: [
      'packages/*/vitest.config.ts',
      { extends: './vitest.shared.ts', test: { name: 'repository', testTimeout: 300_000 } },
    ],
    // Many tests wait for processes and timers: one more than there are processors keeps these busy.
    maxWorkers: availableParallelism() + 1,
    passWithNoTests: true,
    reporters: ['default', join(import.meta.dirname, 'scripts/test-reporter.mjs')],
  },
})
