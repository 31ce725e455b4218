import { describe, test } from 'vitest'
import { hasCompiler, program, skippedWithoutCompiler } from '../programs/program.js'
import { headers } from '../programs/table.mjs'

describe.skipIf(!hasCompiler)(`device code, for g++${skippedWithoutCompiler}`, () => {
  test.each([...headers, 'kernels'])('%s compiles as C++17 without a warning', async (name) => {
    await program(`headers/${name}`)
  })
})
