import { writeDemoModel } from '@gpunvme/layer-loader/formats'
import { spawn, spawnSync, type StdioOptions } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { gpunvme, scratch } from '../gpunvme.js'
import { BIN, gpunvmeProcess } from '../process.js'
import { pattern } from '../simulated-drive.js'

const cwd = scratch()
const at = (name: string) => join(cwd, name)
const LIMIT = { timeout: 120_000 }
const MIB = 1024 * 1024

function drive(name: string, lengthBytes: number): void {
  writeFileSync(at(name), '')
  truncateSync(at(name), lengthBytes)
}

beforeAll(async () => {
  await writeDemoModel(at('model.gguf'), { layers: 2, targetBytes: 4 * MIB })
})

test('the packed program prints what the sources print, and ends with their exit codes', LIMIT, async () => {
  for (const words of [['--version'], ['help', 'bench'], ['inspect', 'model.gguf'], ['inspect', 'missing.gguf']]) {
    const { code, stdout, stderr } = await gpunvme(words, { cwd })
    expect(await gpunvmeProcess(words, { cwd })).toMatchObject({ code, stdout, stderr })
  }
})

test('every module of the packed program can be loaded', LIMIT, () => {
  const dist = join(dirname(BIN), '../dist')
  const modules = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.js') && !path.endsWith('watcher-process.js'),
  )
  const script = `for (const path of ${JSON.stringify(modules)}) await import(${JSON.stringify(dist)} + '/' + path)`
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, ''])
})

test('bytes come by stdin and leave by stdout as they are, of any length', LIMIT, async () => {
  drive('bytes.img', 16 * MIB)
  const input = pattern(9 * MIB)
  const words = ['write', '-', '--image', 'bytes.img', '--lba', '8', '--verify']
  const written = await gpunvmeProcess(words, { cwd, input })
  expect([written.code, written.stdout]).toEqual([0, expect.stringContaining('verified  read back and compared')])
  expect(
    readFileSync(at('bytes.img'))
      .subarray(4096, 4096 + input.length)
      .equals(input),
  ).toBe(true)
  const range = ['--lba', '8', '--blocks', String(input.length / 512)]
  const read = await gpunvmeProcess(['read', '--image', 'bytes.img', ...range, '--raw'], { cwd })
  expect([read.code, read.bytes.equals(input)]).toEqual([0, true])
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

test('a reader of raw bytes that has enough ends the reading, without an error', LIMIT, async () => {
  drive('long.img', 1024 * MIB)
  const child = spawn(process.execPath, [BIN, 'read', '--image', 'long.img', '--blocks', 'all', '--raw', '-q'], { cwd })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  child.stdout.once('data', () => child.stdout.destroy())
  const [code] = (await once(child, 'close')) as [number | null]
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

/** The shell's limit on the size of files stands for a full disk, which a test cannot have. */
function limited(blocks: number, words: string) {
  const command = `ulimit -f ${blocks} && "${process.execPath}" "${BIN}" ${words}`
  return spawnSync('sh', ['-c', command], { cwd, encoding: 'utf8' })
}

test('a failed write to a drive image reports the system error', () => {
  drive('full.img', 16 * MIB)
  const { status, stderr } = limited(8192, 'pack model.gguf --image full.img')
  expect(stderr).toMatch(/\nCannot write full\.img: .* \(EFBIG\)\n {2}Try: use another disk\n$/)
  expect(status).toBe(7)
})

test('a verb does all of its work where its trace cannot be written, and that is what fails', LIMIT, () => {
  const { status, stdout, stderr } = limited(8, 'trace -o full.txt identify --json')
  expect(JSON.parse(stdout)).toMatchObject({ schema: 'gpunvme.identify/1' })
  expect([status, stderr]).toEqual([7, expect.stringMatching(/Cannot write .*full\.txt: .* \(EFBIG\)\n/)])
  expect(readdirSync(cwd).filter((name) => name.includes('full.txt'))).toEqual([])
})
