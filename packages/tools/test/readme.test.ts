import { writeDemoModel } from '@gpunvme/layer-loader/formats'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { gpunvme, scratch } from './gpunvme.js'

const root = join(import.meta.dirname, '..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const cwd = scratch()

test('the commands and the program of the README run unchanged', async () => {
  await writeDemoModel(join(cwd, 'model.gguf'), { layers: 2, targetBytes: 4 * 1024 * 1024 })
  const commands = [...readme.matchAll(/^npx gpunvme (.*?) *#/gm)].map(([, args = '']) => args)
  expect(commands).toHaveLength(14)
  for (const command of commands) {
    // doctor ends with 7 if only the simulator is possible.
    const { code } = await gpunvme(command.split(' '), { cwd })
    expect({ command, done: code === 0 || (command === 'doctor' && code === 7) }).toEqual({ command, done: true })
  }
  const [, program = ''] = /```js\n(.*?)```/s.exec(readme) ?? []
  const script = program.replace("'drive.img'", JSON.stringify(join(cwd, 'drive.img')))
  // From the package's own directory, where its name resolves to itself.
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: root,
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([0, ''])
  expect(stdout.split('\n')).toEqual(['embedding 1 true', 'layer 0 9 true', 'layer 1 9 true', 'output 2 true', ''])
})
