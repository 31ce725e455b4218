import { beforeAll, describe, expect, test } from 'vitest'
import { sanitized } from './bytes.js'
import { hasCompiler, skippedWithoutCompiler, useCompiler, type Program } from './compile.js'

const { compile } = useCompiler()
const sources = ['test/device/scatter_test.cc']

describe.skipIf(!hasCompiler)(`scattered copies${skippedWithoutCompiler}`, () => {
  let plain: Program
  let checked: Program
  beforeAll(async () => {
    plain = await compile({ sources })
    checked = await compile({ sources, flags: sanitized })
  }, 300_000)

  test('copy what memcpy does, whatever the alignments and lengths, and touch nothing else', async () => {
    expect(await plain.run(['pieces', '1', '600'])).toBe('600 rounds\n')
  })

  test('read and store nothing outside of source and destination, and nothing unaligned', async () => {
    expect(await checked.run(['pieces', '1000', '100'])).toBe('100 rounds\n')
  })

  test('of nothing do nothing', async () => {
    expect(await checked.run(['none'])).toBe('')
  })

  test('are shared evenly by all blocks, also when one piece is large and many are small', async () => {
    const written = (await plain.run(['shares'])).trim().split('\n').map(Number)
    // 4 MiB and some between 8 blocks of 2 warps that take 16 KiB at once.
    expect(written).toHaveLength(8)
    expect(written.reduce((sum, bytes) => sum + bytes)).toBe(4 * 1024 * 1024 - 5 + 100 * 100 + 295)
    for (const bytes of written) expect(Math.abs(bytes - 524_288)).toBeLessThanOrEqual(16_384)
  })

  test.each([
    ['a read in front of the source', 'skew == 0 ? 0 : 16', '0', /heap-buffer-overflow/],
    ['a cut beyond the end of a piece', 'aligned < bytes ? aligned : bytes', 'aligned + 0 * bytes', /byte|overflow/],
    ['a wrong byte at skew 8', 'bytes >= 8;', 'bytes > 8;', /seed \d+: byte/],
  ])(
    '%s is found',
    async (_, from, to, reason) => {
      const program = await compile({ sources, flags: sanitized, changes: [{ path: 'cuda/scatter.cuh', from, to }] })
      const { status, stdout, stderr } = await program.attempt(['pieces', '1000', '100'])
      expect(status).not.toBe(0)
      expect(stdout + stderr).toMatch(reason)
    },
    180_000,
  )
})
