import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './packages.js'
import { scratch } from './scratch.js'

/** Returns those of these TypeScript blocks that a rule of scripts/lint reports. */
function reported(rule: string, blocks: readonly string[]): (string | undefined)[] {
  const folder = scratch()
  const config = join(folder, 'config.json')
  const jsPlugins = [join(root, `scripts/lint/${rule}.mjs`)]
  const categories = { correctness: 'off' }
  writeFileSync(config, JSON.stringify({ jsPlugins, categories, rules: { [`gpunvme/${rule}`]: 'error' } }))
  writeFileSync(join(folder, 'source.ts'), blocks.map((block) => `{ ${block} }\n`).join(''))
  const program = join(root, 'node_modules/.bin/oxlint')
  const args = ['--config', config, '--format', 'json', 'source.ts']
  const { stdout, stderr } = spawnSync(program, args, { cwd: folder, encoding: 'utf8' })
  expect(stderr).toBe('')
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: { labels: { span: { line: number } }[] }[] }
  const lines = diagnostics.map(({ labels }) => labels[0]!.span.line).toSorted((a, b) => a - b)
  return lines.map((line) => blocks[line - 1])
}

test('no-unbounded-spread accepts array literals and rest parameters as arguments, and nothing else', () => {
  const accepted = [
    'Math.max(...[a, b])',
    'function most(...values: number[]) { return Math.max(...values) }',
    'const most = (...values: number[]) => [0].map((least) => Math.max(least, ...values))',
    'const copy = [...list]',
  ]
  const rejected = [
    'Math.max(...list)',
    'new Row(...cells)',
    'list.push(...other.values)',
    'Math.max(...[...list])',
    'function most(values: number[]) { return Math.max(...values) }',
    'function most(...[values]: number[][]) { return Math.max(...values) }',
    'function most([...values]: number[]) { return Math.max(...values) }',
    // The inner name hides the rest parameter.
    'function most(...values: number[][]) { for (const values of all) Math.max(...values) }',
  ]
  expect(reported('no-unbounded-spread', [...accepted, ...rejected])).toEqual(rejected)
})
