import { writeDemoModel } from '@gpunvme/layer-loader/formats'
import { spawn, spawnSync, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { BIN, gpunvme, json, scratch } from './gpunvme.js'

const cwd = scratch()
const ESCAPE = '\u001b['

beforeAll(async () => {
  await writeDemoModel(join(cwd, 'model.gguf'), { layers: 2, targetBytes: 4 * 1024 * 1024 })
})

test('the result is on stdout and the narration on stderr', async () => {
  const { stdout, stderr } = await gpunvme(['load', 'model.gguf'], { cwd })
  expect(stdout).toMatch(/^LAYER/)
  expect(stderr).toMatch(/^Packing/)
  expect(stdout).not.toContain('Packing')
})

test('with --json, stdout is one object even while there is something to tell', async () => {
  const ended = await gpunvme(['load', 'model.gguf', '--json'], { cwd })
  expect(json(ended)).toHaveProperty('schema', 'gpunvme.load/1')
  expect(ended.stderr).toContain('Packing')
})

test('--quiet leaves the result, and errors', async () => {
  const loaded = await gpunvme(['load', 'model.gguf', '--quiet'], { cwd })
  expect(loaded.stdout).toMatch(/^LAYER/)
  expect(loaded.stderr).toBe('')
  const failed = await gpunvme(['load', 'missing.gguf', '-q'], { cwd })
  expect(failed.stderr).toContain('no such file')
})

test('no colours without a terminal, or with NO_COLOR; colours with FORCE_COLOR', async () => {
  const coloured = async (env: NodeJS.ProcessEnv) =>
    (await gpunvme(['inspect', 'missing.gguf'], { cwd, env })).stderr.includes(ESCAPE)
  expect(await coloured({})).toBe(false)
  expect(await coloured({ NO_COLOR: '1' })).toBe(false)
  expect(await coloured({ FORCE_COLOR: '1' })).toBe(true)
})

test('no carriage returns or cursor movements without a terminal', async () => {
  const { stdout, stderr } = await gpunvme(['load', 'model.gguf'], { cwd })
  for (const control of ['\r', ESCAPE]) expect(`${stdout}${stderr}`).not.toContain(control)
})

test('a reader that goes away is no error: inspect | head', async () => {
  const inspect = spawn(process.execPath, [BIN, 'inspect', 'model.gguf', '--json'], { cwd })
  let stderr = ''
  inspect.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  // As `head` does once it has what it wants - here before the first byte, so that every write finds the pipe closed.
  inspect.stdout.destroy()
  const [code] = (await once(inspect, 'close')) as [number | null]
  expect([code, stderr]).toEqual([0, ''])
})

const noFullDevice = existsSync('/dev/full') ? '' : ' (skipped: this system has no /dev/full)'
test.skipIf(noFullDevice)(`a result that cannot be written is a failure, in one line${noFullDevice}`, () => {
  const full = openSync('/dev/full', 'w')
  const stdio: StdioOptions = ['ignore', full, 'pipe']
  const { status, stderr } = spawnSync(process.execPath, [BIN, 'inspect', 'model.gguf'], {
    cwd,
    stdio,
    encoding: 'utf8',
  })
  closeSync(full)
  expect(status).toBe(1)
  expect(stderr).toMatch(/^Cannot write the result: ENOSPC.*\n$/)
})

test('a drive whose file the system cannot write says why, in the words of the system', () => {
  writeFileSync(join(cwd, 'full.img'), new Uint8Array(16 * 1024 * 1024))
  // The shell's limit on the size of files stands for a full disk, which a test cannot have.
  const command = `ulimit -f 8192 && "${process.execPath}" "${BIN}" pack model.gguf --image full.img`
  const { status, stderr } = spawnSync('sh', ['-c', command], { cwd, encoding: 'utf8' })
  expect(stderr).toMatch(/\nCannot write full\.img: .* \(EFBIG\)\n {2}Try: use another disk\n$/)
  expect(status).toBe(7)
})
