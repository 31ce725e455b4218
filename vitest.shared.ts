import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { configDefaults, defineConfig } from 'vitest/config'

const tiers = JSON.parse(readFileSync(join(import.meta.dirname, 'test/tiers.json'), 'utf8')) as Record<string, string[]>
/** The files of lists of test/tiers.json, as globs: an entry that ends in a slash is a folder. */
const globs = (...lists: string[]) =>
  lists
    .flatMap((list) => tiers[list]!)
    .map((entry) => join(import.meta.dirname, entry.endsWith('/') ? `${entry}**` : entry))

const tier = process.env['GPUNVME_TIER'] ?? 'test'
const outside: Record<string, readonly string[]> = {
  unit: globs('processes', 'native', 'long', 'slow'),
  test: globs('slow'),
  all: [],
}
if (!Object.hasOwn(outside, tier))
  throw new Error(`GPUNVME_TIER: expected one of ${Object.keys(outside).join(', ')}, got ${JSON.stringify(tier)}`)

/** Settings that all packages share: which files belong to the tier that runs (docs/testing.md), and how long a test may take. */
export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, 'dist/**', ...outside[tier]!],
    // Unit tests share their imports, and may not leave their process.
    ...(tier === 'unit'
      ? { isolate: false, pool: 'threads' as const, setupFiles: [join(import.meta.dirname, 'test/unit-guard.ts')] }
      : {}),
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Other packages as they are published, by Node itself: half the time to load, and their loops run as fast as theirs.
    server: { deps: { external: [/\/packages\/[a-z-]+\/dist\//] } },
  },
})
