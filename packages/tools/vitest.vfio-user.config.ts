import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { requireVisibleToGuests } from '../../test/guest-root.js'

requireVisibleToGuests(join(import.meta.dirname, '../..'))

/** `npm run bench:vfio-user`: minutes, and no test but a measurement, of which docs/evidence/vfio-user.md tells. */
export default defineConfig({ test: { include: ['test/vm/vfio-user/*.measure.ts'] } })
