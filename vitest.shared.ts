import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

/** What every package's tests share: compiled tests are never picked up, and a machine-readable report is left behind. */
export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['dist/**', 'node_modules/**'],
    reporters: ['default', join(import.meta.dirname, 'scripts/test-reporter.mjs')],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Other packages as they are published, by Node itself: half the time to load, and their loops run as fast as theirs.
    server: { deps: { external: [/\/packages\/[a-z-]+\/dist\//] } },
  },
})
