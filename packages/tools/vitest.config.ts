import { mergeConfig } from 'vitest/config'
import shared from '../../vitest.shared.js'

/** The command is tested as it would be published. */
export default mergeConfig(shared, { test: { globalSetup: ['test/packed-program.ts'] } })
