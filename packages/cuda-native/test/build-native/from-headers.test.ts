import { execFile, execFileSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { missingHeaders, missingTools } from '../tools.js'
import { packageCopy } from './package-copy.js'

const { folder, script, build } = packageCopy()

const missing = missingTools('make', 'python3') ?? missingHeaders('g++', 'c++', ['thread', 'linux/magic.h'])
test.skipIf(missing !== undefined)(
  `the addons build from npm's headers alone, are rebuilt only when a source changes, and load${missing === undefined ? '' : ` (skipped: [native] ${missing})`}`,
  async () => {
    // A Node without its headers, as in most containers.
    const node = join(folder, 'bin', 'node')
    mkdirSync(join(folder, 'bin'))
    copyFileSync(process.execPath, node)
    // Optimization makes the build take three times as long.
    const compiler = join(folder, 'bin', 'g++-O0')
    writeFileSync(compiler, '#!/bin/sh\nexec g++ "$@" -O0\n', { mode: 0o755 })
    const env = { PATH: process.env['PATH']!, HOME: folder, CXX: compiler }
    const addon = join(folder, 'native/build/Release/gpunvme_host.node')

    const list = ['host', 'cuda'].map((name) => join(folder, `native/build/Release/gpunvme_${name}.node`)).join(', ')
    // Two at the same time: one builds, and the other waits for it.
    const both = [1, 2].map(() => promisify(execFile)(node, [script], { env }))
    const printed = (await Promise.all(both)).map(({ stdout, stderr }) => stdout + stderr)
    expect(printed.sort()).toEqual([`Built: ${list}\n`, `Up to date: ${list}\n`])
    expect(createRequire(import.meta.url)(addon)).toHaveProperty('memlockLimitBytes')
    expect(createRequire(import.meta.url)(join(folder, 'native/build/Release/gpunvme_cuda.node'))).toHaveProperty(
      'open',
    )
    const first = statSync(addon).mtimeMs
    expect(build(['--prebuilds'], env, node)).toEqual({ status: 0, stdout: '', stderr: `Up to date: ${list}\n` })
    expect(statSync(addon).mtimeMs).toBe(first)
    for (const name of ['gpunvme_host.node', 'gpunvme_cuda.node']) {
      const prebuilt = join(folder, 'prebuilds', `${process.platform}-${process.arch}`, name)
      expect(Buffer.compare(readFileSync(prebuilt), readFileSync(join(folder, 'native/build/Release', name)))).toBe(0)
    }

    execFileSync('sh', ['-c', 'echo "#error changed" >> addon.cc'], { cwd: join(folder, 'native') })
    const { status, stderr } = build([], env, node)
    expect(status).toBe(1)
    expect(stderr).toContain('#error changed')
    expect(stderr).toContain('build-native: gpunvme_host and gpunvme_cuda do not compile')
  },
  300_000,
)
