// Finds the tests that name declarations.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { packageRoot } from './items.mjs'

/** Text and set of words of each test file, by path. */
const tests = new Map(
  readdirSync(join(packageRoot, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .sort()
    .map((file) => {
      const text = readFileSync(join(packageRoot, 'src', file), 'utf8').replace(/\s+/g, ' ')
      return [`src/${file}`, { text, words: new Set(text.match(/\w+/g)) }]
    }),
)

/** Returns the test that names an item: the one beside its source, else one in the same folder or a folder above. */
export function testOf(/** @type {import('./items.mjs').Place} */ { exportName, file }) {
  return [besideOf(file), ...testsUpwards(dirname(file))].find((test) => tests.get(test)?.words.has(exportName))
}

/** Returns whether the test beside a source contains a text. */
export function besideHas(/** @type {string} */ file, /** @type {string} */ text) {
  return tests.get(besideOf(file))?.text.includes(text) === true
}

export function besideOf(/** @type {string} */ file) {
  return file.replace(/ts$/, 'test.ts')
}

/** @type {(folder: string) => string[]} */
function testsUpwards(folder) {
  const here = [...tests.keys()].filter((test) => dirname(test) === folder)
  return folder === '.' ? here : [...here, ...testsUpwards(dirname(folder))]
}
