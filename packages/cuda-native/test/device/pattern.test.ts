import { beforeAll, describe, expect, test } from 'vitest'
import { BUILD_MS, hasCompiler, program, skippedWithoutCompiler, type Program } from '../programs/program.js'

const none = '18446744073709551615'

interface Case {
  threads: number
  blocks?: number
  seed?: bigint
  offset?: number
  bytes: number
  alignment?: number
  wrong?: readonly number[]
}

async function run(program: Program, cases: readonly Case[]) {
  const texts = cases.map(({ threads, blocks = 2, seed = 1234567n, offset = 0, bytes, alignment = 0, wrong = [] }) =>
    [threads, blocks, seed, offset, bytes, alignment, ...(wrong.length > 0 ? [wrong.join(',')] : [])].join(':'),
  )
  const lines = (await program.run(texts)).trim().split('\n')
  return lines.map((line) => {
    const [memory, wrongBytes, firstWrong] = line.split(' ') as [string, string, string]
    return { memory: Buffer.from(memory, 'hex'), wrongBytes, firstWrong }
  })
}

/** Computes SplitMix64 as published, independently of the kernel's code. */
function splitMix64(seed: bigint, words: number): Buffer {
  const bytes = Buffer.alloc(words * 8)
  let state = seed
  for (let index = 0; index < words; index++) {
    state = BigInt.asUintN(64, state + 0x9e3779b97f4a7c15n)
    let word = BigInt.asUintN(64, (state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n)
    word = BigInt.asUintN(64, (word ^ (word >> 27n)) * 0x94d049bb133111ebn)
    bytes.writeBigUInt64LE(word ^ (word >> 31n), index * 8)
  }
  return bytes
}

describe.skipIf(!hasCompiler)(`a pattern${skippedWithoutCompiler}`, () => {
  let checked: Program
  beforeAll(async () => {
    checked = await program('device/pattern')
  }, BUILD_MS)

  test('is SplitMix64: matches the published numbers for the seeds 1234567 and 0', async () => {
    const [first, second] = await run(checked, [
      { threads: 32, bytes: 40 },
      { threads: 0, bytes: 24, seed: 0n },
    ])
    // Rosetta Code, "Pseudo-random numbers/Splitmix64".
    const numbers = [
      6457827717110365317n,
      3203168211198807973n,
      9817491932198370423n,
      4593380528125082431n,
      16408922859458223821n,
    ]
    expect(numbers.map((_, index) => first!.memory.readBigUInt64LE(index * 8))).toEqual(numbers)
    // The reference implementation (Vigna, splitmix64.c) with state 0.
    const zero = [0xe220a8397b1dcdafn, 0x6e789e6aa1b965f4n, 0x06c45d188009454fn]
    expect(zero.map((_, index) => second!.memory.readBigUInt64LE(index * 8))).toEqual(zero)
  })

  test.each([0, 32, 96])('fills any range at any alignment, and no other bytes (%i threads)', async (threads) => {
    const seed = 0xfedcba9876543210n
    const whole = splitMix64(seed, 200)
    const cases = (threads > 32 ? [0, 5] : [0, 1, 3, 4, 7]).flatMap((alignment) =>
      [0, 1, 5, 7, 8, 9, 16, 23, 24, 1000].flatMap((bytes) =>
        [0, 1, 4, 7, 8, 129].map((offset) => ({ threads, seed, offset, bytes, alignment })),
      ),
    )
    const results = await run(checked, cases)
    expect(results).toHaveLength(cases.length)
    for (const [index, { offset, bytes, alignment }] of cases.entries())
      expect(
        results[index],
        JSON.stringify(cases[index], (_, value) => String(value)),
      ).toEqual({
        memory: Buffer.concat([Buffer.alloc(alignment, 0xa5), whole.subarray(offset, offset + bytes), Buffer.of(0xa5)]),
        wrongBytes: '0',
        firstWrong: none,
      })
  })

  test('is correct at offsets beyond 32 bits', async () => {
    const offset = 2 ** 40 + 3
    const [fill] = await run(checked, [{ threads: 32, seed: 0n, offset, bytes: 13 }])
    const state = BigInt.asUintN(64, BigInt(2 ** 37) * 0x9e3779b97f4a7c15n)
    expect(fill!.memory.subarray(0, 13)).toEqual(splitMix64(state, 2).subarray(3, 16))
  })

  test.each([
    [[0], '1 0'],
    [[999], '1 999'],
    [[4, 3, 2, 700, 998], '5 2'],
    [[8, 9, 10, 11, 12, 13, 14, 15, 16], '9 8'],
  ])('is verified: wrong bytes %j are counted, and the first is reported', async (wrong, verdict) => {
    const cases = [0, 32, 96].flatMap((threads) =>
      [0, 1, 5].map((alignment) => ({ threads, alignment, offset: 6, bytes: 1000, wrong })),
    )
    for (const { wrongBytes, firstWrong } of await run(checked, cases))
      expect(`${wrongBytes} ${firstWrong}`).toBe(verdict)
  })
})
