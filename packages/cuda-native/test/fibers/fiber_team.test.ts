import { beforeAll, describe, expect, test } from 'vitest'
import { BUILD_MS, hasCompiler, program, skippedWithoutCompiler, type Program } from '../programs/program.js'

let plain: Program
let checked: Program

describe.skipIf(!hasCompiler)(`a team of fibers${skippedWithoutCompiler}`, () => {
  beforeAll(async () => {
    plain = await program('fibers/team')
    checked = await program('fibers/team-memory')
  }, BUILD_MS)

  test('runs all threads in an order drawn from a seed', async () => {
    const orders = await Promise.all(
      ['1', '2', '3', '4', '5', '6', '7', '8', '1'].map((seed) => plain.run(['order', seed])),
    )
    for (const order of orders) {
      const threads = order.trim().split(' ').map(Number)
      expect([...threads].sort((a, b) => a - b)).toEqual(Array.from({ length: 64 }, (_, index) => index))
    }
    expect(new Set(orders).size).toBe(8)
    expect(orders[8]).toBe(orders[0])
    expect(new Set(orders.map((order) => Number(order.split(' ')[0]) < 32))).toEqual(new Set([true, false]))
  })

  test.each(['1', '2', '3'])('lets lanes vote and exchange values (seed %s)', async (seed) => {
    // Lane 1 of the second warp: odd lanes; lanes 0, 3, ... 15; 1 << 40 | 37; lane 17.
    const said = (await checked.run(['collectives', seed])).trim().split('\n').sort()
    expect(said).toEqual([0, 1, 2].map((block) => `${block} of 3: aaaaaaaa 00009249 10000000025 49`))
  })

  test('provides shared memory that is initially undefined', async () => {
    expect(await checked.run(['shared', '1'])).toBe('')
  })

  test('runs the other side while threads poll', async () => {
    expect(Number(await checked.run(['pause', '1']))).toBe(100)
  })

  test.each([
    ['foreign', /lane (1[6-9]|2\d|3[01]) of warp \d calls ballot with mask 0000ffff, which it is not in/],
    [
      'divergent',
      /no thread of block 0 can go on\n[^]*thread 7 has ended\n {2}thread 8 waits in sync_warp, mask ffffffff/,
    ],
    ['masks', /thread 3 waits in sync_warp, mask ffffffff\n {2}thread 4 waits in sync_warp, mask 7fffffff/],
    ['block', /thread 31 waits in sync_block, mask 00000000\n {2}thread 32 has ended/],
    ['source', /shuffle from lane 8, which is not in mask 000000ff/],
    ['forever', /polled \d+ times without progress/],
  ])('stops a kernel that is invalid on a GPU: %s', async (name, reason) => {
    const { status, stderr } = await plain.attempt([name, '1'])
    expect(stderr).toMatch(reason)
    expect(status).toBe(70)
  })
})
