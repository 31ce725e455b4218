import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isIn, tiers } from '../scripts/tiers.mjs'
import { packages, root } from './packages.js'

test.each(Object.entries(tiers))('the tier list %s names existing files, each once', (_, entries) => {
  expect(entries.filter((entry) => !existsSync(join(root, entry)))).toEqual([])
  expect(entries.filter((entry, index) => entries.indexOf(entry) !== index)).toEqual([])
})

test('each entry of the list heavy is also in a list of what it depends on', () => {
  const others = ['processes', 'native', 'long', 'alone'].flatMap((list) => tiers[list]!)
  const isListed = (entry: string) => others.some((other) => entry.startsWith(other) || other.startsWith(entry))
  expect(tiers['heavy']!.filter((entry) => !isListed(entry))).toEqual([])
})

test('no file of the list long mocks modules, since the mocks would remain for the files after it', () => {
  const pattern = /vi\.(?:mock|doMock|spyOn|stub)/
  const folders = packages.flatMap(({ name }) =>
    ['src', 'conformance', 'dst', 'calibration', 'test'].map((folder) => `packages/${name}/${folder}`),
  )
  const files = folders
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
    )
    .filter((file) => file.endsWith('.test.ts'))
  const long = files.filter((file) => isIn(file, 'long') && !isIn(file, 'processes', 'native', 'alone', 'slow'))
  expect(long.length).toBeGreaterThan(100)
  expect(long.filter((file) => pattern.test(readFileSync(join(root, file), 'utf8')))).toEqual([])
})
