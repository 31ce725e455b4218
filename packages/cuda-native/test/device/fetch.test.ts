import { beforeAll, describe, expect, test } from 'vitest'
import { BUILD_MS, hasCompiler, program, seedsOf, skippedWithoutCompiler, type Program } from '../programs/program.js'

const seeds = seedsOf(...Array.from({ length: 10 }, (_, seed) => String(seed + 1)))

/** Numbers of positions by ending, in the order of `gnv_fetch_ending`. */
async function endings(of: Program, seed: string, world: string) {
  const counts = (await of.run([seed, world])).trim().split(' ').map(Number)
  const [pending, verified, corrupt, readFailed, rejected, skipped] = counts
  return { pending, verified, corrupt, readFailed, rejected, skipped }
}

describe.skipIf(!hasCompiler)(`a fetch of experts${skippedWithoutCompiler}`, () => {
  let plain: Program
  let checked: Program
  beforeAll(async () => {
    plain = await program('device/fetch')
    checked = await program('device/fetch-memory')
  }, BUILD_MS)

  test('verifies each expert, finds each flipped bit, and can be replayed without a reset', async () => {
    for (const seed of seeds) {
      const { verified, corrupt, ...others } = await endings(plain, seed, 'replays')
      expect(verified).toBeGreaterThan(0)
      expect(corrupt).toBeGreaterThan(0)
      expect(others).toMatchObject({ pending: 0, readFailed: 0 })
    }
  })

  test('ends an expert with the status of its failed read, and reads it again in the next fetch', async () => {
    for (const seed of seeds) {
      const { verified, readFailed, pending } = await endings(plain, seed, 'statuses')
      expect(verified).toBeGreaterThan(0)
      expect(readFailed).toBeGreaterThan(0)
      expect(pending).toBe(0)
    }
  })

  test('completes with one warp and two slots', async () => {
    for (const seed of seeds)
      expect(await endings(plain, seed, 'one-warp')).toMatchObject({ pending: 0, readFailed: 0 })
  })

  test('reads 64 positions with 32 warps', async () => {
    for (const seed of seeds.slice(0, 5))
      expect(await endings(plain, seed, 'large')).toMatchObject({ pending: 0, readFailed: 0 })
  })

  test('ends experts with lost reads at the time limit', async () => {
    for (const seed of seeds) {
      const { readFailed, pending } = await endings(plain, seed, 'losses')
      expect(readFailed).toBeGreaterThan(0)
      expect(pending).toBe(0)
    }
  })

  test('verifies no expert that a late read of an earlier fetch can overwrite', async () => {
    let failed = 0
    for (const seed of seeds) {
      const { readFailed, pending } = await endings(plain, seed, 'late')
      expect(pending).toBe(0)
      failed += readFailed!
    }
    expect(failed).toBeGreaterThan(0)
  })

  test.each([
    ['verifies an expert between skipped positions', 'verified'],
    ['rejects a layer that the table does not have', 'layer'],
    ['rejects an identifier that the layer does not have', 'expert'],
    ['rejects an extent that is misaligned, overlaps another, or is not inside its expert, table or drive', 'extent'],
    ['rejects an extent of a drive that does not exist, accepts no reads, or has other blocks than the table', 'drive'],
    ['rejects a destination that is misaligned, too small, or not inside the buffer', 'destination'],
    ['rejects a destination that overlaps that of a lower position', 'overlap'],
    ['rejects more positions than GNV_FETCH_MAX_POSITIONS', 'count'],
    ['rejects all positions in blocks whose threads are not a multiple of 32', 'block'],
    ['does nothing without positions', 'none'],
    ['reads an expert once if each position requests it', 'same'],
  ])('%s', async (_, name) => {
    expect(await (await program('device/fetch-cases')).run([name])).toBe('')
  })

  test('has no invalid memory access, under AddressSanitizer', async () => {
    for (const world of ['replays', 'statuses', 'losses', 'late']) await endings(checked, seeds[0]!, world)
  })

  test.each([
    [
      'makes the data visible to a thread that acquires the result, without a race under ThreadSanitizer',
      'device/fetch-threads',
    ],
    ['has no invalid memory access on CPU threads', 'device/fetch-threads-memory'],
  ])(
    '%s',
    async (_, name) => {
      const race = await program(name)
      for (const seed of seeds.slice(0, 3)) await race.run([seed])
    },
    BUILD_MS,
  )
})
