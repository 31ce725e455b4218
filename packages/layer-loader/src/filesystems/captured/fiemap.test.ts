import { expect, test } from 'vitest'
import { readFiemap } from './fiemap.js'

// Argument before and after the ioctl on ext4 under Linux 6.18, for a file of 5000000 bytes in one run.
const REQUEST = '0000000000000000404b4c0000000000010000000000000000020000' + '00000000'
const ANSWER =
  '0000000000000000404b4c0000000000010000000100000000020000' +
  '00000000' +
  '0000000000000000000060880800000000504c0000000000' +
  '00000000000000000000000000000000' +
  '01000000000000000000000000000000'

interface Run {
  readonly logical: number
  readonly physical: number
  readonly length: number
  readonly flags?: number
}

/** Returns a host that answers like Linux: with the runs that touch the requested range, up to a maximum number. */
function answering(runs: readonly Run[], maxRuns = 512) {
  const calls: number[] = []
  return {
    calls,
    ioctl(_fd: number, request: number, argument: Uint8Array): number {
      expect(request).toBe(0xc020660b)
      const data = new DataView(argument.buffer)
      const start = Number(data.getBigUint64(0, true))
      calls.push(start)
      const found = runs.filter(({ logical, length }) => logical + length > start).slice(0, maxRuns)
      found.forEach(({ logical, physical, length, flags = 0 }, index) => {
        data.setBigUint64(32 + index * 56, BigInt(logical), true)
        data.setBigUint64(32 + index * 56 + 8, BigInt(physical), true)
        data.setBigUint64(32 + index * 56 + 16, BigInt(length), true)
        data.setUint32(32 + index * 56 + 40, flags, true)
      })
      data.setUint32(20, found.length, true)
      return 0
    },
  }
}

test('readFiemap encodes struct fiemap and decodes struct fiemap_extent', () => {
  const host = {
    ioctl(fd: number, request: number, argument: Uint8Array) {
      expect([fd, request]).toEqual([7, 0xc020660b])
      expect(Buffer.from(argument.subarray(0, 32)).toString('hex')).toBe(REQUEST)
      // Room for fm_extent_count runs.
      expect(argument.byteLength).toBe(32 + 0x200 * 56)
      argument.set(Buffer.from(ANSWER, 'hex'))
      return 0
    },
  }
  expect(readFiemap(host, 7, 'model.gguf', 5_000_000)).toEqual([
    { fileOffsetBytes: 0, deviceOffsetBytes: 36_647_731_200, lengthBytes: 5_000_000 },
  ])
})

test('readFiemap repeats the request until the end of the file, and merges adjacent runs', () => {
  const runs = Array.from({ length: 10 }, (_, index) => ({
    logical: index * 4096,
    physical: index < 8 ? 1_000_000 - index * 8192 : 10_000_000 + index * 4096,
    length: 4096,
  }))
  const host = answering(runs, 3)
  const found = readFiemap(host, 7, 'model.gguf', 40_000)
  expect(host.calls).toEqual([0, 3 * 4096, 6 * 4096, 9 * 4096])
  expect(found.length).toBe(9)
  expect(found.at(-1)).toEqual({ fileOffsetBytes: 32_768, deviceOffsetBytes: 10_032_768, lengthBytes: 40_000 - 32_768 })
})

test('readFiemap returns no runs for an empty file', () => {
  expect(readFiemap(answering([]), 7, 'empty', 0)).toEqual([])
})

// include/uapi/linux/fiemap.h
test.each([
  ['UNKNOWN', 0x2],
  ['DELALLOC', 0x4],
  ['ENCODED', 0x8],
  ['DATA_ENCRYPTED', 0x80],
  ['NOT_ALIGNED', 0x100],
  ['DATA_INLINE', 0x200],
  ['DATA_TAIL', 0x400],
  ['UNWRITTEN', 0x800],
  ['SHARED', 0x2000],
])('readFiemap rejects a run with the flag FIEMAP_EXTENT_%s', (name, flag) => {
  const host = answering([{ logical: 0, physical: 4096, length: 8192, flags: flag | 1 }])
  expect(() => readFiemap(host, 7, 'model.gguf', 5000)).toThrow(`FIEMAP_EXTENT_${name}`)
})

test('readFiemap accepts the flags LAST and MERGED', () => {
  const host = answering([{ logical: 0, physical: 4096, length: 8192, flags: 0x1001 }])
  expect(readFiemap(host, 7, 'model.gguf', 5000).length).toBe(1)
})

test.each([
  ['at its beginning', [{ logical: 4096, physical: 0, length: 4096 }]],
  [
    'in its middle',
    [
      { logical: 0, physical: 0, length: 4096 },
      { logical: 8192, physical: 9000, length: 4096 },
    ],
  ],
  ['at its end', [{ logical: 0, physical: 0, length: 4096 }]],
])('readFiemap rejects a hole %s', (_, runs) => {
  expect(() => readFiemap(answering(runs), 7, 'model.gguf', 12_288)).toThrow(
    expect.objectContaining({ code: 'ERR_GPUNVME_CAPTURE_HOLE' }),
  )
})

test('readFiemap rejects an answer with too many runs or with offsets above 2^53', () => {
  const tooMany = {
    ioctl: (_fd: number, _request: number, argument: Uint8Array) => (
      new DataView(argument.buffer).setUint32(20, 513, true),
      0
    ),
  }
  expect(() => readFiemap(tooMany, 7, 'x', 1)).toThrow(expect.objectContaining({ code: 'ERR_GPUNVME_CAPTURE_ANSWER' }))
  const tooFar = answering([{ logical: 0, physical: 2 ** 53, length: 4096 }])
  expect(() => readFiemap(tooFar, 7, 'x', 1)).toThrow(expect.objectContaining({ code: 'ERR_GPUNVME_CAPTURE_ANSWER' }))
})

test('readFiemap reports the error of a file system without FIEMAP', () => {
  const host = {
    ioctl() {
      throw Object.assign(new Error('ioctl'), { code: 'EOPNOTSUPP' })
    },
  }
  expect(() => readFiemap(host, 7, 'x', 1)).toThrow('EOPNOTSUPP')
})
