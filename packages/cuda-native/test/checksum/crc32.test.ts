import { readFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { someBytes } from '../device/bytes.js'
import { BUILD_MS, hasCompiler, program, skippedWithoutCompiler, type Program } from '../programs/program.js'

const MiB = 1 << 20
const data = someBytes(3 * MiB)

interface Case {
  /** CRC of the preceding bytes. */
  crc?: number
  from?: number
  bytes: number
  split?: number
  alignment?: number
}

/** Returns the CRCs of each case, by each implementation, computed in one call and in two. */
async function run(program: Program, cases: readonly Case[], input: Uint8Array = data) {
  const args = cases.map(({ crc = 0, from = 0, bytes, split = 0, alignment = 0 }) =>
    [crc, from, bytes, split, alignment].join(':'),
  )
  const [ways, ...lines] = (await program.run(args, { input, timeoutMs: 120_000 })).trimEnd().split('\n')
  return {
    ways: ways!.trim().split(' '),
    found: lines.map((line) =>
      line
        .trim()
        .split(' ')
        .map((crc) => Number.parseInt(crc, 16)),
    ),
  }
}

/** Expects that all implementations agree with zlib, in one call and in two. */
async function expectZlib(program: Program, cases: readonly Case[]) {
  const { ways, found } = await run(program, cases)
  const expected = cases.map(({ crc = 0, from = 0, bytes }) => {
    const right = crc32(data.subarray(from, from + bytes), crc)
    return Array<number>(2 * ways.length).fill(right)
  })
  expect(found).toEqual(expected)
}

describe.skipIf(!hasCompiler)(`CRC-32 by each implementation that this CPU supports${skippedWithoutCompiler}`, () => {
  let plain: Program
  let checked: Program
  beforeAll(async () => {
    plain = await program('checksum/crc32')
    checked = await program('checksum/crc32-memory')
  }, BUILD_MS)

  test('uses the CPU features that the kernel lists, and tables as the last resort', async () => {
    const { ways } = await run(plain, [])
    const flags = /^flags\s*:(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1]?.split(' ') ?? []
    const has = (...names: string[]) => names.every((name) => flags.includes(name))
    expect(ways).toEqual([
      ...(has('pclmulqdq', 'vpclmulqdq', 'avx512f') ? ['avx512'] : []),
      ...(has('pclmulqdq') ? ['pclmulqdq'] : []),
      'tables',
    ])
  })

  test('is CRC-32/ISO-HDLC: its check value, and that of a MiB of zeros', async () => {
    const { ways, found } = await run(checked, [{ bytes: 9, split: 4 }], Buffer.from('123456789'))
    expect(found).toEqual([Array(2 * ways.length).fill(0xcbf43926)])
    const zeros = await run(plain, [{ bytes: MiB, split: 777 }], Buffer.alloc(MiB))
    expect(zeros.found).toEqual([Array(2 * ways.length).fill(0xa738ea1c)])
  })

  test('matches zlib for every length up to 1100 bytes, and reads no other bytes', async () => {
    const cases = Array.from({ length: 1101 }, (_, bytes) => ({
      ...{ bytes, from: 3 * bytes, alignment: bytes % 17, split: (bytes * 7) % (bytes + 1) },
      crc: bytes % 3 === 0 ? 0 : (bytes * 0x9e3779b1) >>> 0,
    }))
    await expectZlib(checked, cases)
  }, 180_000)

  test('matches zlib at any alignment and any split, up to a few MiB', async () => {
    const lengths = [1500, 2048, 2049, 4095, 4096, 5000, 65_537]
    const cases = lengths.flatMap((bytes) =>
      Array.from({ length: 64 }, (_, alignment) => ({
        bytes,
        alignment,
        split: (alignment * 131) % bytes,
        from: alignment,
      })),
    )
    await expectZlib(checked, cases)
    const long = [MiB, MiB + 1, 2 * MiB - 15, 3 * MiB - 64].map((bytes, index) => ({
      ...{ bytes, alignment: 5 * index, from: index, split: MiB - 300 * index },
    }))
    await expectZlib(plain, long)
  }, 180_000)
})
