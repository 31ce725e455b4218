import { defineConfig } from 'vitest/config'

/** `npm run peers`: minutes, and no test but a measurement, of which docs/peers.md tells. */
export default defineConfig({ test: { include: ['test/vm/peers/*.measure.ts'] } })
