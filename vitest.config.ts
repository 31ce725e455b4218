import { defineConfig, mergeConfig } from 'vitest/config'
import shared from './vitest.shared.js'

/** Tests of the repository as a whole: layering, packed tarballs, the README's examples. */
export default mergeConfig(shared, defineConfig({ test: { include: ['test/**/*.test.ts'], testTimeout: 300_000 } }))
