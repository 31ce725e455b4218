// Which test names what is declared.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { packageRoot } from './items.mjs'

/** Test files by name, with their text and the words in it. */
const tests = new Map(
  readdirSync(join(packageRoot, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .sort()
    .map((file) => {
      const text = readFileSync(join(packageRoot, 'src', file), 'utf8').replace(/\s+/g, ' ')
      return [`src/${file}`, { text, words: new Set(text.match(/\w+/g)) }]
    }),
)

/** The test that names an item: the file beside its source, else another one in that folder or in one above it. */
export function testOf(/** @type {import('./items.mjs').Place} */ { exportName, file }) {
  return [besideOf(file), ...testsUpwards(dirname(file))].find((test) => tests.get(test)?.words.has(exportName))
}

/** Whether the test beside a source has these words in it. */
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
