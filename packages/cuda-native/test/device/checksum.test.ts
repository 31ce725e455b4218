import { crc32 } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { someBytes } from './bytes.js'
import { BUILD_MS, hasCompiler, program, skippedWithoutCompiler, type Program } from '../programs/program.js'

const MiB = 1 << 20
const data = someBytes(3 * MiB)

interface Case {
  threads: number
  blocks?: number
  seed?: number
  from?: number
  bytes: number
  chunkBytes?: number
  alignment?: number
  firstIndex?: number
  expected?: number[]
}

function text({ threads, bytes, firstIndex = 0, expected, ...rest }: Case): string {
  const { blocks = 2, seed = 1, from = 0, chunkBytes = MiB, alignment = 0 } = rest
  const job = [threads, blocks, seed, from, bytes, chunkBytes, alignment]
  return (expected === undefined ? job : [...job, firstIndex, expected.join(',')]).join(':')
}

/** Returns zlib's checksum of each chunk. */
function zlib({ from = 0, bytes, chunkBytes = MiB }: Case): number[] {
  const starts = Array.from({ length: Math.ceil(bytes / chunkBytes) }, (_, index) => index * chunkBytes)
  return starts.map((start) => crc32(data.subarray(from + start, from + Math.min(bytes, start + chunkBytes))))
}

async function checksums(program: Program, cases: readonly Case[], input: Uint8Array = data): Promise<number[][]> {
  const lines = (await program.run(cases.map(text), { input })).split('\n').slice(0, -1)
  expect(lines).toHaveLength(cases.length)
  return lines.map((line) =>
    line
      .split(' ')
      .slice(0, -1)
      .map((crc) => Number.parseInt(crc, 16)),
  )
}

describe.skipIf(!hasCompiler)(`checksums of chunks${skippedWithoutCompiler}`, () => {
  let plain: Program
  let checked: Program
  beforeAll(async () => {
    plain = await program('device/checksum')
    checked = await program('device/checksum-memory')
  }, BUILD_MS)

  test('are CRC-32/ISO-HDLC: its check value, and that of a MiB of zeros', async () => {
    for (const threads of [0, 32, 256]) {
      const check = await checksums(checked, [{ threads, bytes: 9 }], Buffer.from('123456789'))
      expect(check).toEqual([[0xcbf43926]])
      expect(await checksums(plain, [{ threads, bytes: MiB }], Buffer.alloc(MiB))).toEqual([[0xa738ea1c]])
    }
  })

  test('of 0 bytes are an empty list', async () => {
    expect(await checksums(checked, [{ threads: 32, bytes: 0 }])).toEqual([[]])
  })

  test.each([0, 32, 64, 256])('match zlib at any alignment and length (%i threads)', async (threads) => {
    const row = Math.max(threads, 1) * 16
    const lengths = [1, 2, 3, 4, 5, 15, 16, 17, 18, 19, 20, 21, 31, 32, 33, 35, 36, 37, 4096, 12345]
    const around = [row, 2 * row, 3 * row, 6 * row, 7 * row].flatMap((bytes) => [
      bytes - 1,
      bytes,
      bytes + 1,
      bytes + 16,
    ])
    const cases = (threads > 64 ? [0, 5] : [0, 1, 3, 4, 8, 13, 15]).flatMap((alignment) =>
      [...lengths, ...around].map((bytes, index) => ({ threads, seed: index, from: 7 * index, bytes, alignment })),
    )
    expect(await checksums(checked, cases)).toEqual(cases.map(zlib))
  })

  test('match zlib with fewer or more blocks than chunks, and with a shorter last chunk', async () => {
    const cases = [1, 2, 3, 5].flatMap((blocks) =>
      [1, 2, 3].flatMap((seed) => [
        { threads: 64, blocks, seed, bytes: 3 * MiB - 4096 },
        { threads: 64, blocks, seed, bytes: 100_000, chunkBytes: 32_768, from: 5, alignment: 5 },
        { threads: 1024, blocks, seed, bytes: 100_000, chunkBytes: 9_999 },
      ]),
    )
    expect(await checksums(plain, cases)).toEqual(cases.map(zlib))
  })

  test('are verified: the number of mismatches and the first of them are reported', async () => {
    const job = { threads: 64, blocks: 3, bytes: 40_000, chunkBytes: 4096, firstIndex: 700 }
    const right = zlib(job)
    expect(right).toHaveLength(10)
    const wrong = right.map((crc, index) => ([4, 7, 9].includes(index) ? (crc ^ 0x00010000) >>> 0 : crc))
    for (const seed of [1, 2, 3, 4]) {
      const cases = [right, wrong].map((expected) => text({ ...job, seed, expected }))
      expect(await checked.run(cases, { input: data })).toBe('0 4294967295\n3 704\n')
    }
  })

  test('are correct in any order in which the threads of a block run', async () => {
    const cases = Array.from({ length: 16 }, (_, seed) => ({
      ...{ threads: 64, blocks: 1, seed },
      ...{ bytes: 40_000, chunkBytes: 4096 },
    }))
    expect(await checksums(plain, cases)).toEqual(cases.map(zlib))
  })
})
