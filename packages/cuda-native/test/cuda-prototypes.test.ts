import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { hasCompiler, skippedWithoutCompiler } from './programs/program.js'

const folder = join(import.meta.dirname, '../native/cuda')
const places = [
  ...[process.env['CUDA_HOME'], process.env['CUDA_PATH'], '/usr/local/cuda', '/opt/cuda'].map(
    (home) => `${home}/include`,
  ),
  ...['13', '12'].map((major) => `/usr/local/cuda-${major}.0/include`),
  '/usr/include',
]
const include = places.find((place) => existsSync(join(place, 'cuda.h')) && existsSync(join(place, 'cudaTypedefs.h')))
const skipped = hasCompiler
  ? include === undefined
    ? ' (skipped: [cuda] there is no cuda.h)'
    : ''
  : skippedWithoutCompiler

describe.skipIf(skipped !== '')(`prototypes of driver functions${skipped}`, () => {
  test('match cuda.h', () => {
    const flags = ['-std=c++17', '-fsyntax-only', '-Wall', '-Wextra', '-Werror', '-isystem', include!]
    const { status, stderr } = spawnSync('g++', [...flags, join(folder, 'api_check.cc')], { encoding: 'utf8' })
    expect(status, stderr).toBe(0)
  })
})
