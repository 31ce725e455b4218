import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const root = new URL('..', import.meta.url)
const readme = readFileSync(new URL('README.md', root), 'utf8')
const recipes = [...readme.matchAll(/^### (.*)\n[\s\S]*?```js\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```/gm)]

it('every JavaScript example shows its output', () => {
  expect(recipes).toHaveLength(4)
  expect(readme.match(/```js/g)).toHaveLength(4)
})

it.each(recipes.map(([, title, code, output]) => [title!, code!, output!]))(
  'the example "%s" prints the output in the README',
  (_title, code, output) => {
    expect(execFileSync(process.execPath, ['--input-type=module', '-e', code], { cwd: root }).toString()).toBe(output)
  },
)
