import { defineConfig } from 'vitest/config'

/** `npm run bench:vfio-user`: minutes, and no test but a measurement, of which docs/vfio-user.md tells. */
export default defineConfig({ test: { include: ['test/vm/vfio-user/*.measure.ts'] } })
