import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { filesBelow, packages, root } from './packages.js'

test('no source edits or parses the message of an error: headline, facts and next step are fields', () => {
  const edits = packages.flatMap(({ folder }) =>
    filesBelow(join(folder, 'src'), ['.ts'])
      .filter((path) => !path.endsWith('.test.ts'))
      .flatMap((path) =>
        [...readFileSync(path, 'utf8').matchAll(/\.message\)?\s*\.(?:replace|replaceAll|split|slice|match)\(/g)].map(
          ([found]) => `${relative(root, path)}: ${found}`,
        ),
      ),
  )
  expect(edits).toEqual([])
})
