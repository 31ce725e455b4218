import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { packageCopy } from './package-copy.js'

const { repository, folder, build } = packageCopy()

describe('a machine without a compiler', () => {
  const env = { PATH: '/nonexistent' }

  test('builds and packs the repository without the addons, and prints why they are missing', () => {
    const why =
      'gpunvme_host and gpunvme_cuda are not built: g++, make, python3 not found. Everything else works without them.\n'
    writeFileSync(join(repository, 'pnpm-workspace.yaml'), '')
    expect(build([], env)).toEqual({ status: 0, stdout: why, stderr: '' })
    rmSync(join(repository, 'pnpm-workspace.yaml'))
    // An addon that was packed earlier may be from other sources.
    mkdirSync(join(folder, 'prebuilds'))
    expect(build(['--prebuilds'], env).status).toBe(0)
    expect(existsSync(join(folder, 'prebuilds'))).toBe(false)
  })

  test.each([[], ['--required']])('fails if the addons are requested: %s', (...flags) => {
    expect(build(flags, env)).toEqual({
      status: 1,
      stdout: '',
      stderr: 'build-native: gpunvme_host and gpunvme_cuda cannot be built: g++, make, python3 not found\n',
    })
  })
})

test('a GPUNVME_NODEDIR without headers is an error', () => {
  const { status, stderr } = build([], { PATH: '/nonexistent', GPUNVME_NODEDIR: '/nonexistent' })
  expect(status).toBe(1)
  expect(stderr).toContain('GPUNVME_NODEDIR=/nonexistent has no include/node with node_api.h')
})

test('an unknown option is an error', () => {
  expect(build(['--release'], {})).toMatchObject({
    status: 1,
    stderr: 'build-native: unknown option --release; known are --prebuilds and --required\n',
  })
})
