import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

/** `npm run test:vm`: minutes, and so no part of `npm test`. Guests start one after another, for the sake of their deadlines. */
export default defineConfig({
  test: {
    include: ['test/vm/**/*.vm.ts'],
    reporters: ['verbose', [join(import.meta.dirname, '../../scripts/test-reporter.mjs'), { file: 'vm.json' }]],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 300_000,
  },
})
