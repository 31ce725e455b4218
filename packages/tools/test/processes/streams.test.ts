import { writeDemoModel } from '@gpunvme/layer-loader/formats'
import { spawn, spawnSync, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { gpunvme, scratch } from '../gpunvme.js'
import { BIN, gpunvmeProcess } from '../process.js'
import { emptyImage, pattern } from '../simulated-drive.js'

const cwd = scratch()
const at = (name: string) => join(cwd, name)
const LIMIT = { timeout: 120_000 }
const MIB = 1024 * 1024

beforeAll(async () => {
  await writeDemoModel(at('model.gguf'), { layers: 2, targetBytes: 4 * MIB })
})

test('the built program has the output and exit codes of the sources', LIMIT, async () => {
  // Without next commands, which are printed as each of the two was started.
  const lines = ['--version', 'help bench', 'nvme identify --sim', 'inspect model.gguf --json', 'inspect missing.gguf']
  for (const words of lines.map((line) => line.split(' '))) {
    const { code, stdout, stderr } = await gpunvme(words, { cwd })
    expect(await gpunvmeProcess(words, { cwd })).toMatchObject({ code, stdout, stderr })
  }
})

test('every module of the built program can be loaded', LIMIT, () => {
  const dist = join(dirname(BIN), '../dist')
  const modules = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.js') && !path.endsWith('watcher-process.js'),
  )
  const script = `for (const path of ${JSON.stringify(modules)}) await import(${JSON.stringify(dist)} + '/' + path)`
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, ''])
})

test('stdin and stdout carry bytes unchanged, at any length', LIMIT, async () => {
  emptyImage(at('bytes.img'), 16 * MIB)
  const input = pattern(9 * MIB)
  const words = ['nvme', 'write', '-', '--image', 'bytes.img', '--lba', '8', '--verify']
  const written = await gpunvmeProcess(words, { cwd, input })
  expect([written.code, written.stdout]).toEqual([0, expect.stringContaining('verified  read back and compared')])
  expect(
    readFileSync(at('bytes.img'))
      .subarray(4096, 4096 + input.length)
      .equals(input),
  ).toBe(true)
  const range = ['--lba', '8', '--blocks', String(input.length / 512)]
  const read = await gpunvmeProcess(['nvme', 'read', '--image', 'bytes.img', ...range, '--raw'], { cwd })
  expect([read.code, read.bytes.equals(input)]).toEqual([0, true])
})

test('a reader that closes stdout is not an error: inspect | head', async () => {
  const inspect = spawn(process.execPath, [BIN, 'inspect', 'model.gguf', '--json'], { cwd })
  let stderr = ''
  inspect.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  // `head` closes the pipe when it has enough; here it is closed before the first byte, so that every write fails.
  inspect.stdout.destroy()
  const [code] = (await once(inspect, 'close')) as [number | null]
  expect([code, stderr]).toEqual([0, ''])
})

test('read --raw ends without an error when its reader closes stdout', LIMIT, async () => {
  emptyImage(at('long.img'), 1024 * MIB)
  const child = spawn(
    process.execPath,
    [BIN, 'nvme', 'read', '--image', 'long.img', '--blocks', 'all', '--raw', '-q'],
    { cwd },
  )
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  child.stdout.once('data', () => child.stdout.destroy())
  const [code] = (await once(child, 'close')) as [number | null]
  expect([code, stderr]).toEqual([0, ''])
})

const noFullDevice = existsSync('/dev/full') ? '' : ' (skipped: this system has no /dev/full)'
test.skipIf(noFullDevice)(`a result that cannot be written is reported in one line${noFullDevice}`, () => {
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

/** Runs the command with the shell's limit on the size of files, in place of a full disk. */
function limited(blocks: number, words: string) {
  const command = `ulimit -f ${blocks} && "${process.execPath}" "${BIN}" ${words}`
  return spawnSync('sh', ['-c', command], { cwd, encoding: 'utf8' })
}

test('a failed write to a drive image reports the system error', () => {
  emptyImage(at('full.img'), 16 * MIB)
  const { status, stderr } = limited(8192, 'pack model.gguf --image full.img')
  expect(stderr).toMatch(/\nCannot write full\.img: .* \(EFBIG\)\n {2}Try: use another disk\n$/)
  expect(status).toBe(7)
})

test('a verb whose trace cannot be written completes its work, and then fails', LIMIT, () => {
  const { status, stdout, stderr } = limited(8, 'nvme trace -o full.txt nvme identify --sim --json')
  expect(JSON.parse(stdout)).toMatchObject({ schema: 'gpunvme.identify/1' })
  expect([status, stderr]).toEqual([7, expect.stringMatching(/Cannot write .*full\.txt: .* \(EFBIG\)\n/)])
  expect(readdirSync(cwd).filter((name) => name.includes('full.txt'))).toEqual([])
})
