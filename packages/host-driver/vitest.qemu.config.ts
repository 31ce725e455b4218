import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

/** `npm run test:qemu`: the tests that need QEMU's NVMe controller, and no others. `npm test` runs them too. */
export default defineConfig({
  test: {
    include: [
      'test/qemu.test.ts',
      'test/qemu-*.test.ts',
      'test/controller-cases.test.ts',
      'test/conformance-qtest.test.ts',
      'test/qtest/**/*.test.ts',
    ],
    reporters: ['default', [join(import.meta.dirname, '../../scripts/test-reporter.mjs'), { file: 'qemu.json' }]],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
