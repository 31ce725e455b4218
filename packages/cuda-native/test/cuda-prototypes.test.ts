import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { hasCompiler, skippedWithoutCompiler } from './device/compile.js'

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

/** What g++ says of our prototypes beside the real ones, with `from` in driver.h replaced. */
function check(from = '', to = ''): string {
  const copy = mkdtempSync(join(tmpdir(), 'gpunvme-prototypes-'))
  onTestFinished(() => rmSync(copy, { recursive: true }))
  const driver = readFileSync(join(folder, 'driver.h'), 'utf8')
  if (!driver.includes(from)) throw new Error(`driver.h has no ${from}`)
  writeFileSync(join(copy, 'driver.h'), driver.replace(from, to))
  writeFileSync(join(copy, 'api_check.cc'), readFileSync(join(folder, 'api_check.cc')))
  const flags = ['-std=c++17', '-fsyntax-only', '-Wall', '-Wextra', '-Werror', '-isystem', include!]
  const { status, stderr } = spawnSync('g++', [...flags, join(copy, 'api_check.cc')], { encoding: 'utf8' })
  if (status === 0) return 'compiles'
  return /static assertion failed: (.*)/.exec(stderr)?.[1] ?? stderr
}

describe.skipIf(skipped !== '')(`our prototypes beside cuda.h${skipped}`, () => {
  test('are the same', () => expect(check()).toBe('compiles'))

  test.each([
    [
      'a parameter of another width',
      'cuEventRecord, (Event event, Stream stream)',
      'cuEventRecord, (Event event, int stream)',
      'cuEventRecord has another prototype in this cuda.h',
    ],
    [
      'a pointer that is none',
      '(size_t * bytes, Device device)',
      '(size_t bytes, Device device)',
      'cuDeviceTotalMem_v2 has another prototype in this cuda.h',
    ],
    [
      'one parameter too many',
      'cuEventQuery, (Event event)',
      'cuEventQuery, (Event event, int more)',
      'cuEventQuery has another prototype in this cuda.h',
    ],
    ['the name of an older interface', 'F(cuMemFree_v2,', 'F(cuMemFree,', 'cuMemFree has another name in this cuda.h'],
    [
      'a constant with another value',
      'kErrorNotReady = 600',
      'kErrorNotReady = 601',
      'kErrorNotReady has another value in this cuda.h',
    ],
  ])('a planted mistake is noticed: %s', (_what, from, to, said) => expect(check(from, to)).toBe(said))
})
