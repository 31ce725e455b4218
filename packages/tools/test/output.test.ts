import { writeDemoModel } from '@gpunvme/layer-loader/formats'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { gpunvme, json, scratch } from './gpunvme.js'

const cwd = scratch()
const ESCAPE = '\u001b['

beforeAll(async () => {
  await writeDemoModel(join(cwd, 'model.gguf'), { layers: 2, targetBytes: 4 * 1024 * 1024 })
})

test('the result is on stdout and the narration on stderr, without control characters', async () => {
  const { stdout, stderr } = await gpunvme(['load', 'model.gguf', '--sim'], { cwd })
  expect(stdout).toMatch(/^SIMULATED.*\nPlan/)
  expect(stderr).toMatch(/^Packing/)
  expect(stdout).not.toContain('Packing')
  for (const control of ['\r', ESCAPE]) expect(`${stdout}${stderr}`).not.toContain(control)
})

test('with --json, stdout is one object, also if there is narration', async () => {
  const ended = await gpunvme(['load', 'model.gguf', '--sim', '--json'], { cwd })
  expect(json(ended)).toHaveProperty('schema', 'gpunvme.load/1')
  expect(ended.stderr).toContain('Packing')
})

test('--quiet keeps the result and errors', async () => {
  const loaded = await gpunvme(['load', 'model.gguf', '--sim', '--quiet'], { cwd })
  expect(loaded.stdout).toMatch(/^SIMULATED.*\nPlan/)
  expect(loaded.stderr).toBe('')
  const failed = await gpunvme(['load', 'missing.gguf', '--sim', '-q'], { cwd })
  expect(failed.stderr).toContain('no such file')
})

test('no colours without a terminal, or with NO_COLOR; colours with FORCE_COLOR', async () => {
  const coloured = async (env: NodeJS.ProcessEnv, columns?: number) => {
    const { stderr } = await gpunvme(['inspect', 'missing.gguf'], {
      cwd,
      env,
      ...(columns !== undefined && { columns }),
    })
    return stderr.includes(ESCAPE)
  }
  expect(await coloured({})).toBe(false)
  expect(await coloured({}, 80)).toBe(true)
  expect(await coloured({ NO_COLOR: '1' })).toBe(false)
  expect(await coloured({ FORCE_COLOR: '1' })).toBe(true)
})
