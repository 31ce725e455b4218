import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { requireVisibleToGuests } from '../../test/guest-root.js'

requireVisibleToGuests(join(import.meta.dirname, '../..'))

/** `npm run peers`: minutes, and no test but a measurement, of which docs/evidence/peers.md tells. */
export default defineConfig({ test: { include: ['test/vm/peers/*.measure.ts'] } })
