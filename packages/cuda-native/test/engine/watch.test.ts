import { describe, test } from 'vitest'
import { BUILD_MS, hasCompiler, program, skippedWithoutCompiler } from '../programs/program.js'

describe.skipIf(!hasCompiler)(`a session that watches its leaders${skippedWithoutCompiler}`, () => {
  test(
    'times the silence of each leader separately, from its launch, and launches no paused leader',
    async () => {
      const watch = await program('engine/watch')
      await watch.run()
    },
    BUILD_MS,
  )
})
