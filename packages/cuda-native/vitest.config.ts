import { availableParallelism } from 'node:os'
import { mergeConfig } from 'vitest/config'
import shared from '../../vitest.shared.js'

/** The longest of all suites: where it would have one worker for itself, others have ended while it goes on alone. */
export default mergeConfig(shared, { test: { maxWorkers: Math.max(2, availableParallelism() - 1) } })
