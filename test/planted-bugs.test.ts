import { expect, test } from 'vitest'
import { readRows } from '../scripts/mutants/rows.mjs'
import { root } from './packages.js'

test('every planted bug still applies to the sources, and names tests that exist', () => {
  expect(readRows(root).length).toBeGreaterThan(150)
})
