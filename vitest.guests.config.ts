import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

/** Linux guests (docs/linux-guest.md): minutes each, and two within a file are as many as two cores have room for. */
export default defineConfig({
  test: {
    include: ['packages/*/test/vm/**/*.vm.ts'],
    reporters: ['verbose', join(import.meta.dirname, 'scripts/test-reporter.mjs')],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 1_860_000,
  },
})
