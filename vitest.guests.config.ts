import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { requireVisibleToGuests } from './test/guest-root.js'

requireVisibleToGuests(import.meta.dirname)

/** Linux guests (docs/evidence/linux-guest.md). One file at a time: a file may run two guests at once, which occupy two cores. */
export default defineConfig({
  test: {
    include: ['packages/*/test/vm/**/*.vm.ts'],
    reporters: ['verbose', join(import.meta.dirname, 'scripts/test-reporter.mjs')],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 1_860_000,
  },
})
