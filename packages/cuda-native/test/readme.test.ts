import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hasStandin, skippedWithoutStandin, useStandin } from './standin/standin.js'

useStandin()
const root = join(import.meta.dirname, '..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const programs = [...readme.matchAll(/^```js\n(.*?)^```/gms)].map(([, code = '']) => code)

// `using` is a syntax error on Node 20 and 22.
test.each(programs)('example %#: uses only syntax of the oldest supported Node', (code) => {
  expect(code).not.toMatch(/\busing\b\s+\w+\s*(=|of)/)
})

test.skipIf(!hasStandin)(`the example of tier 1 runs unmodified${skippedWithoutStandin}`, () => {
  const found = programs.filter((code) => code.includes('await readThrough('))
  expect(found).toHaveLength(1)
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', found[0]!], {
    ...{ cwd: root, encoding: 'utf8', timeout: 50_000 },
  })
  expect([status, stdout, stderr]).toEqual([0, '4194304 bytes on the GPU\n', ''])
})
