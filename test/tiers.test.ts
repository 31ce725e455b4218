import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './packages.js'

const tiers = JSON.parse(readFileSync(join(root, 'test/tiers.json'), 'utf8')) as Record<string, string[]>

test.each(Object.entries(tiers))('the tier list %s names existing files, each once', (_, entries) => {
  expect(entries.filter((entry) => !existsSync(join(root, entry)))).toEqual([])
  expect(entries.filter((entry, index) => entries.indexOf(entry) !== index)).toEqual([])
})
