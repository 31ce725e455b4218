import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { scratch } from '../../../test/scratch.js'
import { writeDemoModel } from '../src/formats/index.js'

const root = join(import.meta.dirname, '..')
const folder = scratch()
beforeAll(() => writeDemoModel(join(folder, 'model.gguf'), { layers: 4, targetBytes: 32 << 20 }), 60_000)

const readme = readFileSync(join(root, 'README.md'), 'utf8')
const examples = [...readme.matchAll(/```js\n(.*?)```(?:\n\n```text\n(.*?)```)?/gs)]

test('the README has its four examples', () => {
  expect(examples).toHaveLength(4)
})

test.each(examples.map(([, program = '', output = ''], index) => ({ number: index + 1, program, output })))(
  'example $number of the README runs and prints the documented output',
  ({ program, output }) => {
    // `compute` is the reader's function. Package names resolve from the directory of this package.
    const script = `process.chdir(${JSON.stringify(folder)})\nconst compute = (bytes) => bytes.length\n${program}`
    const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: root,
      encoding: 'utf8',
      timeout: 120_000,
    })
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toBe(output)
  },
  150_000,
)
