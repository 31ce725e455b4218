import { describe, test } from 'vitest'
import { BUILD_MS, hasCompiler, program, skippedWithoutCompiler } from '../programs/program.js'

describe.skipIf(!hasCompiler)(`a session that watches its leaders${skippedWithoutCompiler}`, () => {
  test(
    'counts the silence of each by itself, from its launch on, and launches none that is paused',
    async () => {
      const watch = await program('engine/watch')
      await watch.run()
    },
    BUILD_MS,
  )
})
