import { beforeAll, describe, expect, test } from 'vitest'
import { BUILD_MS, hasCompiler, program, skippedWithoutCompiler, type Program } from '../programs/program.js'

describe.skipIf(!hasCompiler)(`warps of a load${skippedWithoutCompiler}`, () => {
  let load: Program
  beforeAll(async () => {
    load = await program('gpu-check/drive-load')
  }, BUILD_MS)

  test('read if all of them run', async () => {
    expect((await load.run(['2'])).trim()).toBe('192 2')
  })

  test('end without a read if one of them does not start within the time limit', async () => {
    expect((await load.run(['1'])).trim()).toBe('0 2')
  })
})
