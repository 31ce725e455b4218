import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

/** Part of `npm run test:vm`: minutes, and so no part of `npm test`. */
export default defineConfig({
  test: {
    include: ['test/vm/**/*.vm.ts'],
    reporters: ['verbose', [join(import.meta.dirname, '../../scripts/test-reporter.mjs'), { file: 'vm.json' }]],
    // Guests side by side within a file are as many as two cores have room for.
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 1_860_000,
  },
})
