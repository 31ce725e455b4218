import { mergeConfig } from 'vitest/config'
import shared from '../../vitest.shared.js'

// Pure functions over bytes have no state that one file could leave to the next, and the many small files of this
// package take half as long when they share their imports.
export default mergeConfig(shared, { test: { isolate: false } })
