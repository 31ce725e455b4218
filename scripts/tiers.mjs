// The lists of test files in test/tiers.json, which docs/how-to/testing.md describes.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** @type {Readonly<Record<string, readonly string[]>>} Paths by list; a path that ends in a slash is a folder. */
export const tiers = JSON.parse(readFileSync(join(import.meta.dirname, '../test/tiers.json'), 'utf8'))

/**
 * Tells whether one of the lists has a test file, or a folder above it.
 * @param {string} file its path below the root
 * @param {string[]} lists
 */
export function isIn(file, ...lists) {
  return lists.some((list) =>
    tiers[list].some((entry) => (entry.endsWith('/') ? file.startsWith(entry) : file === entry)),
  )
}
