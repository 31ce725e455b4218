import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { hasCompiler, program, skippedWithoutCompiler } from '../programs/program.js'
import { end } from '../programs/run-program.js'
import { headers } from '../programs/table.mjs'

describe.skipIf(!hasCompiler)(`device code, for g++${skippedWithoutCompiler}`, () => {
  test.each([...headers, 'kernels'])('%s compiles as C++17 without a warning', async (name) => {
    await program(`headers/${name}`)
  })

  test.each(['gpunvme_device.h', 'gpunvme_array.h', 'gpunvme_fetch.h'])(
    '%s compiles as C99 without a warning',
    async (name) => {
      const args = ['-std=c99', '-Wall', '-Wextra', '-Wpedantic', '-Werror', '-fsyntax-only', '-include']
      const { status, stderr } = await end(
        'gcc',
        [...args, resolve(import.meta.dirname, '../../cuda', name), '-x', 'c', '/dev/null'],
        {},
      )
      expect(stderr).toBe('')
      expect(status).toBe(0)
    },
  )
})
