import { beforeAll, describe, expect, test } from 'vitest'
import { BUILD_MS, hasCompiler, program, seedsOf, skippedWithoutCompiler, type Program } from '../programs/program.js'

const seeds = seedsOf(...Array.from({ length: 20 }, (_, seed) => String(seed + 1)))

/** Numbers of accesses by ending, in the order of `gnv_ending`; reads by the controller; statistics of the cache. */
async function counts(of: Program, seed: string, world: string) {
  const numbers = (await of.run([seed, world])).trim().split(' ').map(Number)
  const [, success, status, timeout, lost, halted, busy, invalid, fetches, failures, ...statistics] = numbers
  const [hits, misses, coalesced, evictions, busyAccesses] = statistics
  const endings = { success, status, timeout, lost, halted, busy, invalid }
  return { endings, fetches, failures, hits, misses, coalesced, evictions, busyAccesses }
}

const none = { status: 0, timeout: 0, lost: 0, halted: 0, busy: 0, invalid: 0 }

describe.skipIf(!hasCompiler)(`threads that share the page cache of an array${skippedWithoutCompiler}`, () => {
  let plain: Program
  let checked: Program
  beforeAll(async () => {
    plain = await program('device/array')
    checked = await program('device/array-memory')
  }, BUILD_MS)

  test('4096 threads get all elements, with a cache smaller than the data that they read', async () => {
    const { endings, fetches, misses, ...others } = await counts(plain, seeds[0]!, 'thousands')
    expect(endings).toEqual({ success: 8192, ...none })
    expect(fetches).toBe(misses)
    expect(others.evictions).toBeGreaterThan(256)
    expect(others.hits).toBeGreaterThan(0)
    expect(others.coalesced).toBeGreaterThan(0)
  })

  test('an evicted page is not in use, and none is in two slots', async () => {
    for (const seed of seeds) {
      const { endings, fetches, misses, evictions } = await counts(plain, seed, 'thrash')
      expect(endings).toEqual({ success: 2048, ...none })
      expect(fetches).toBe(misses)
      expect(evictions).toBeGreaterThan(50)
    }
  })

  test('the lanes of a warp complete accesses to different pages with a single slot', async () => {
    for (const seed of seeds) expect((await counts(plain, seed, 'one-slot')).endings).toEqual({ success: 256, ...none })
  })

  test('reads each page once for 1024 threads, if the cache has room for all', async () => {
    for (const seed of seeds) {
      const { endings, fetches, coalesced } = await counts(plain, seed, 'hot')
      expect(endings).toEqual({ success: 4096, ...none })
      expect(fetches).toBe(3)
      expect(coalesced).toBeGreaterThan(0)
    }
  })

  test('a failed read leaves no page, and a later access reads again', async () => {
    for (const seed of seeds) {
      const { endings, fetches, failures, misses } = await counts(plain, seed, 'failing')
      expect(endings.success! + endings.status!).toBe(2048)
      expect(endings.success).toBeGreaterThan(0)
      expect(failures).toBeGreaterThan(0)
      expect(fetches).toBe(misses)
    }
  })

  test('all threads that wait for a failed read get its status', async () => {
    for (const seed of seeds) {
      const { endings, failures, misses, coalesced } = await counts(plain, seed, 'only-failures')
      expect(endings).toEqual({ ...none, success: 0, status: 512 })
      expect(failures).toBe(misses)
      expect(coalesced).toBeGreaterThan(0)
    }
  })

  test('the controller never writes to a slot that holds another page, even after a time-out', async () => {
    for (const seed of seeds) {
      const { endings } = await counts(plain, seed, 'losses')
      expect(endings.success).toBeGreaterThan(0)
      expect(endings.timeout).toBeGreaterThan(0)
      expect(endings.lost).toBe(0)
    }
  })

  test('all threads return after the host sets GNV_QUEUE_LOST', async () => {
    for (const seed of seeds) {
      const { endings } = await counts(plain, seed, 'lost')
      expect(endings.lost).toBeGreaterThan(0)
      expect(endings.timeout).toBe(0)
    }
  })

  test.each([
    ['rejects an index beyond the array', 'index'],
    ['rejects each invalid layout with its own reason', 'layout'],
    ['reads no block after the extent', 'last_page'],
    ['reads elements of different types through one cache', 'views'],
    ['distinguishes pages with the same low 32 bits of their numbers', 'large_numbers'],
    ['evicts pages that were not used since the last pass of the clock', 'clock'],
    ['does not evict a pinned page', 'pinned'],
    ['ends an access as busy if all slots are in use for the whole time limit', 'busy'],
    ['counts no more references than the word of a slot can hold', 'references'],
    ['reports the status of each failed read, and reads again', 'failed'],
    ['reports why the device refuses a read', 'refused'],
    ['does not reuse the slot of a timed-out read, even after its completion', 'timed_out'],
    ['quarantines the slot of a lost read', 'lost'],
    ['ends an access as busy if the thread that reads its page has stopped', 'stopped_reader'],
  ])('%s', async (_, name) => {
    expect(await (await program('device/array-cases')).run([name])).toBe('')
  })

  test.each([
    ['gives each lane its element although the reads of other lanes take longer than the time limit', 'slow'],
    ['ends an access as busy one time limit after the last read by other lanes, if no slot is free', 'taken'],
  ])('%s', async (_, name) => {
    expect(await (await program('device/array-lanes')).run([name])).toBe('')
  })

  test('have no invalid memory access, under AddressSanitizer', async () => {
    for (const world of ['failing', 'losses']) await counts(checked, seeds[0]!, world)
  })

  test.each([
    ['have no race, under ThreadSanitizer', 'device/array-threads'],
    ['have no invalid memory access on CPU threads', 'device/array-threads-memory'],
  ])(
    '%s',
    async (_, name) => {
      const race = await program(name)
      for (const seed of seeds.slice(0, 5)) await race.run([seed])
    },
    BUILD_MS,
  )
})
