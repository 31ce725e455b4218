import { mergeConfig } from 'vitest/config'
import shared from '../../vitest.shared.js'

/** Tests that start the command as a process start it from the packed tarballs. */
export default mergeConfig(shared, { test: { globalSetup: ['test/packed-program.ts'] } })
