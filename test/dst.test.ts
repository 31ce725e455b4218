import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from './packages.js'

it.each([
  [['--seeds', '2', '--replay', 'scenario.json'], '--replay runs one scenario, and takes no --seeds'],
  [['--replay', 'scenario.json', '--first', '1', '--json'], '--replay runs one scenario, and takes no --first, --json'],
  [['--seeds', '0'], '--seeds: expected a whole number from 1, got 0'],
])('the campaign refuses the options %j and says how it is used', (options, message) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/dst.mjs', ...options], {
    cwd: root,
    encoding: 'utf8',
  })
  expect([status, stdout]).toEqual([2, ''])
  expect(stderr).toContain(`${message}\nusage: npm run dst`)
})

it('the scenario that a failed campaign leaves is no part of the repository', () => {
  expect(readFileSync(join(root, '.gitignore'), 'utf8').split('\n')).toContain('dst-seed-*.json')
})
