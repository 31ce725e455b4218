import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../../..')

test('the tables of docs/experts.md match the output of scripts/expert-cache.mjs', () => {
  const page = readFileSync(join(root, 'packages/layer-loader/docs/experts.md'), 'utf8')
  const [, tables] = /<!-- tables -->\n([^]*)<!-- end of tables -->/.exec(page)!
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/expert-cache.mjs'], {
    cwd: root,
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([0, ''])
  expect(tables).toBe(stdout)
})
