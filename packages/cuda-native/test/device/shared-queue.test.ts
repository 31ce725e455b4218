import { beforeAll, describe, expect, test } from 'vitest'
import { BUILD_MS, hasCompiler, program, seedsOf, skippedWithoutCompiler, type Program } from '../programs/program.js'

const seeds = seedsOf(...Array.from({ length: 20 }, (_, seed) => String(seed + 1)))

/** Numbers of commands by ending, in the order of `gnv_ending`. */
async function endings(of: Program, seed: string, world: string) {
  const counts = (await of.run([seed, world])).trim().split(' ').map(Number)
  const [, success, status, timeout, lost, halted, busy] = counts
  return { success, status, timeout, lost, halted, busy }
}

const none = { timeout: 0, lost: 0, halted: 0, busy: 0 }

describe.skipIf(!hasCompiler)(`threads that share a queue pair${skippedWithoutCompiler}`, () => {
  let plain: Program
  let checked: Program
  beforeAll(async () => {
    plain = await program('device/shared-queue')
    checked = await program('device/shared-queue-memory')
  }, BUILD_MS)

  test('4096 threads on 8 queues get one outcome for each command, and all data', async () => {
    const { success, status, ...others } = await endings(plain, seeds[0]!, 'thousands')
    expect(success! + status!).toBe(4096)
    expect(status).toBeGreaterThan(0)
    expect(others).toEqual(none)
  })

  test('duplicate and foreign completions end no command', async () => {
    for (const seed of seeds) expect(await endings(plain, seed, 'strays')).toMatchObject(none)
  })

  test('a warp completes its commands with a single slot', async () => {
    for (const seed of seeds)
      expect(await endings(plain, seed, 'one-slot')).toEqual({ success: 192, status: 0, ...none })
  })

  test('warps that use two drives in one call do not deadlock', async () => {
    for (const seed of seeds) expect(await endings(plain, seed, 'drives')).toEqual({ success: 512, status: 0, ...none })
  })

  test('a thread that is delayed by laps of the rings gets a distinct slot', async () => {
    for (const seed of seeds) expect(await endings(plain, seed, 'laps')).toEqual({ success: 512, status: 0, ...none })
  })

  test('ring positions wrap at 2^32', async () => {
    for (const seed of seeds) expect(await endings(plain, seed, 'wrap')).toEqual({ success: 416, status: 0, ...none })
  })

  test('times out a command without a completion, and halts its queue', async () => {
    for (const seed of seeds) {
      const { timeout, halted, lost } = await endings(plain, seed, 'losses')
      expect(timeout).toBeGreaterThan(0)
      expect(halted).toBeGreaterThan(0)
      expect(lost).toBe(0)
    }
  })

  test('a completion after the time limit does not give a command a second outcome', async () => {
    for (const seed of seeds) {
      const { timeout, lost } = await endings(plain, seed, 'late')
      expect(timeout).toBeGreaterThan(0)
      expect(lost).toBe(0)
    }
  })

  test('all threads return after the host sets GNV_QUEUE_LOST', async () => {
    for (const seed of seeds) {
      const { timeout, lost } = await endings(plain, seed, 'lost')
      expect(timeout).toBe(0)
      expect(lost).toBeGreaterThan(0)
    }
  })

  test.each([
    ['rejects each invalid request with its own reason, and submits nothing', 'invalid'],
    ['rejects a request if the device has no drives', 'no_drives'],
    ['submits a Flush', 'flush'],
    ['rejects a ticket that has already been waited for', 'waited_twice'],
    ['rejects a ticket of a queue that the host has taken back, without an access to its slots', 'returned'],
    ['does not credit a repeated completion to the next command in its slot', 'repeated'],
    ['ends a command as busy if all slots are taken for the whole time limit', 'busy'],
    ['does not reuse the slot of a timed-out command, even after its completion', 'timed_out'],
    ['accepts a completion that arrived before the deadline and is polled after it', 'late_look'],
    ['times out no command whose completion had no room in the CQ', 'full_cq'],
    ['does not credit a completion of another queue', 'foreign'],
    ['does not end a command that is being submitted while others time out', 'submitted_during_expiry'],
    ['ends commands in flight when the host has lost the controller', 'lost'],
    ['awaits commands in flight when the host halts the queue', 'halted'],
  ])('%s', async (_, name) => {
    expect(await (await program('device/shared-cases')).run([name])).toBe('')
  })

  test('have no invalid memory access, under AddressSanitizer', async () => {
    for (const world of ['strays', 'losses']) await endings(checked, seeds[0]!, world)
  })

  test.each([
    ['have no race, under ThreadSanitizer', 'device/shared-threads'],
    ['have no invalid memory access on CPU threads', 'device/shared-threads-memory'],
  ])(
    '%s',
    async (_, name) => {
      const race = await program(name)
      for (const seed of seeds.slice(0, 5)) await race.run([seed])
    },
    BUILD_MS,
  )
})
