import { beforeAll, describe, expect, test } from 'vitest'
import { BUILD_MS, hasCompiler, program, skippedWithoutCompiler, type Program } from '../programs/program.js'

describe.skipIf(!hasCompiler)(`scattered copies${skippedWithoutCompiler}`, () => {
  let plain: Program
  let checked: Program
  beforeAll(async () => {
    plain = await program('device/scatter')
    checked = await program('device/scatter-memory')
  }, BUILD_MS)

  test('match memcpy for all alignments and lengths, and change no other bytes', async () => {
    expect(await plain.run(['pieces', '1', '600'])).toBe('600 rounds\n')
  })

  test('access only source and destination, and only aligned words', async () => {
    expect(await checked.run(['pieces', '1000', '100'])).toBe('100 rounds\n')
  })

  test('without pieces do nothing', async () => {
    expect(await checked.run(['none'])).toBe('')
  })

  test('are divided evenly among all blocks, even if one piece is large and many are small', async () => {
    const written = (await plain.run(['shares'])).trim().split('\n').map(Number)
    // Slightly more than 4 MiB, divided among 8 blocks of 2 warps in units of 16 KiB.
    expect(written).toHaveLength(8)
    expect(written.reduce((sum, bytes) => sum + bytes)).toBe(4 * 1024 * 1024 - 5 + 100 * 100 + 295)
    for (const bytes of written) expect(Math.abs(bytes - 524_288)).toBeLessThanOrEqual(16_384)
  })
})
