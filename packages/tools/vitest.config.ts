import { availableParallelism } from 'node:os'
import { mergeConfig } from 'vitest/config'
import shared from '../../vitest.shared.js'

/** The command is tested as it would be published, and its suite is one of the two longest, as cuda-native's is. */
export default mergeConfig(shared, {
  test: { globalSetup: ['test/packed-program.ts'], maxWorkers: Math.max(2, availableParallelism() - 1) },
})
