import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const root = new URL('..', import.meta.url)
const readme = readFileSync(new URL('README.md', root), 'utf8')
const recipes = [...readme.matchAll(/^### (.*)\n[\s\S]*?```js\n([\s\S]*?)```\n\n```text\n([\s\S]*?)```/gm)]

it('the README has nine recipes', () => {
  expect(recipes.map(([, title]) => title)).toHaveLength(9)
  expect(readme.match(/```js/g)).toHaveLength(9)
})

it.each(recipes.map(([, title, code, output]) => [title!, code!, output!]))(
  'recipe "%s" prints what the README says',
  (_title, code, output) => {
    expect(execFileSync(process.execPath, ['--input-type=module', '-e', code], { cwd: root }).toString()).toBe(output)
  },
)

it('the README lists every entry point', () => {
  const { exports } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { exports: object }
  const code = Object.keys(exports).filter((name) => name !== '.' && !/^\.\/(?:include|package)/.test(name))
  expect(code.filter((name) => !readme.includes(`\n| \`${name.slice(1)}\` |`))).toEqual([])
})
