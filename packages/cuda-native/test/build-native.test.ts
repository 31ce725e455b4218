import { execFile, execFileSync, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { missingHeaders, missingTools } from './tools.js'

const root = join(import.meta.dirname, '..')
let repository: string
let folder: string
beforeAll(() => {
  repository = mkdtempSync(join(tmpdir(), 'gpunvme-build-'))
  folder = join(repository, 'packages', 'cuda-native')
  mkdirSync(folder, { recursive: true })
  cpSync(join(root, 'native'), join(folder, 'native'), {
    recursive: true,
    filter: (path) => path !== join(root, 'native', 'build'),
  })
  for (const part of ['cuda', 'scripts']) cpSync(join(root, part), join(folder, part), { recursive: true })
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
})
afterAll(() => rmSync(repository, { recursive: true }))

function build(flags: readonly string[], { node = process.execPath, ...env }: Record<string, string>) {
  const script = join(folder, 'scripts', 'build-native.mjs')
  const { status, stdout, stderr } = spawnSync(node, [script, ...flags], { encoding: 'utf8', env })
  return { status, stdout, stderr }
}

describe('a machine without a compiler', () => {
  const env = { PATH: '/nonexistent' }

  test('does without the addon where the repository is built and where it is packed, and is told why', () => {
    const why =
      'gpunvme_host and gpunvme_cuda are not built: g++, make, python3 not found. Everything else works without them.\n'
    writeFileSync(join(repository, 'pnpm-workspace.yaml'), '')
    expect(build([], env)).toEqual({ status: 0, stdout: why, stderr: '' })
    rmSync(join(repository, 'pnpm-workspace.yaml'))
    // One that was packed before is of other sources.
    mkdirSync(join(folder, 'prebuilds'))
    expect(build(['--prebuilds'], env).status).toBe(0)
    expect(existsSync(join(folder, 'prebuilds'))).toBe(false)
  })

  test.each([[], ['--required']])('gives whoever asks for the addons an error: %s', (...flags) => {
    expect(build(flags, env)).toEqual({
      status: 1,
      stdout: '',
      stderr: 'build-native: gpunvme_host and gpunvme_cuda cannot be built: g++, make, python3 not found\n',
    })
  })
})

test('headers that are not where they were said to be are an error', () => {
  const { status, stderr } = build([], { PATH: '/nonexistent', GPUNVME_NODEDIR: '/nonexistent' })
  expect(status).toBe(1)
  expect(stderr).toContain('GPUNVME_NODEDIR=/nonexistent has no include/node with node_api.h')
})

test('options that there are none of are an error', () => {
  expect(build(['--release'], {})).toMatchObject({
    status: 1,
    stderr: 'build-native: unknown option --release; known are --prebuilds and --required\n',
  })
})

const missing = missingTools('make', 'python3') ?? missingHeaders('g++', 'c++', ['thread', 'linux/magic.h'])
test.skipIf(missing !== undefined)(
  `the addons build from npm's headers alone, once for each state of their sources, and load${missing === undefined ? '' : ` (skipped: [native] ${missing})`}`,
  async () => {
    // A Node whose own headers are not beside it, as in most containers.
    const node = join(folder, 'bin', 'node')
    mkdirSync(join(folder, 'bin'))
    copyFileSync(process.execPath, node)
    const env = { node, PATH: process.env['PATH']!, HOME: folder }
    const addon = join(folder, 'native/build/Release/gpunvme_host.node')

    const list = ['host', 'cuda'].map((name) => join(folder, `native/build/Release/gpunvme_${name}.node`)).join(', ')
    const script = join(folder, 'scripts', 'build-native.mjs')
    // Two at a time: one builds, and the other waits for it.
    const both = [1, 2].map(() => promisify(execFile)(node, [script], { env }))
    const said = (await Promise.all(both)).map(({ stdout, stderr }) => stdout + stderr)
    expect(said.sort()).toEqual([`Built: ${list}\n`, `Up to date: ${list}\n`])
    expect(createRequire(import.meta.url)(addon)).toHaveProperty('memlockLimitBytes')
    expect(createRequire(import.meta.url)(join(folder, 'native/build/Release/gpunvme_cuda.node'))).toHaveProperty(
      'open',
    )
    const first = statSync(addon).mtimeMs
    expect(build(['--prebuilds'], env)).toEqual({ status: 0, stdout: '', stderr: `Up to date: ${list}\n` })
    expect(statSync(addon).mtimeMs).toBe(first)
    for (const name of ['gpunvme_host.node', 'gpunvme_cuda.node']) {
      const prebuilt = join(folder, 'prebuilds', `${process.platform}-${process.arch}`, name)
      expect(Buffer.compare(readFileSync(prebuilt), readFileSync(join(folder, 'native/build/Release', name)))).toBe(0)
    }

    execFileSync('sh', ['-c', 'echo "#error changed" >> addon.cc'], { cwd: join(folder, 'native') })
    const { status, stderr } = build([], env)
    expect(status).toBe(1)
    expect(stderr).toContain('#error changed')
    expect(stderr).toContain('build-native: gpunvme_host and gpunvme_cuda do not compile')
  },
  300_000,
)
