import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const root = new URL('..', import.meta.url)
const readme = readFileSync(new URL('README.md', root), 'utf8')

function block(language: string): string {
  return new RegExp('```' + language + '\\n([\\s\\S]*?)```').exec(readme)![1]!
}

it('the example of the README prints what the README says', () => {
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', block('js')], { cwd: root })
  expect(output.toString()).toBe(block('text'))
})
