import { closeSync, constants, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { someBytes } from '../../test/device/bytes.js'
import { isBuilt, native, skipped } from '../../test/native.js'
import { nativeFileReader } from './file-reader.js'

const MIB = 1024 * 1024

describe.skipIf(!isBuilt)(`reads of files by native code${skipped}`, () => {
  const reader = isBuilt ? nativeFileReader() : undefined!
  const path = join(scratch(), 'file')
  const content = someBytes(9 * MIB + 1234)
  writeFileSync(path, content)
  const none = { chunkBytes: 1, summedBytes: 0, into: new Uint32Array(0) }

  async function withFile<T>(use: (fd: number) => Promise<T> | T, flags = constants.O_RDONLY): Promise<T> {
    const fd = openSync(path, flags)
    try {
      return await use(fd)
    } finally {
      closeSync(fd)
    }
  }

  // First: memory of earlier reads could be freed between the two counts.
  test('requests huge pages for memory that a long read fills', async ({ skip }) => {
    if (!existsSync('/sys/kernel/mm/transparent_hugepage')) return skip('the kernel has no transparent huge pages')
    const view = new DataView(new SharedArrayBuffer(8 * MIB))
    const before = advisedBytes()
    await withFile((fd) => reader.read(fd, 0, view, 4096, 4 * MIB, none))
    expect(advisedBytes() - before).toBeGreaterThanOrEqual(4 * MIB)
  })

  test('bytes and checksums agree with the file for any chunk size', async () => {
    await withFile(async (fd) => {
      for (const [at, length, chunkBytes, summedBytes] of [
        [0, 9 * MIB, MIB, 9 * MIB],
        [17, 3 * MIB + 5, 300_000, 3 * MIB + 5],
        [4096, 2 * MIB, 5 * MIB, MIB + 1],
        [MIB, 100, 1, 3],
        [0, 4 * MIB, MIB, 0],
      ] as const) {
        const view = new DataView(new SharedArrayBuffer(length + 20))
        const into = new Uint32Array(Math.ceil(summedBytes / chunkBytes) + 1).fill(7)
        const got = await reader.read(fd, at, view, 10, length, { chunkBytes, summedBytes, into })
        expect(got).toBe(length)
        expect(Buffer.compare(new Uint8Array(view.buffer, 10, length), content.subarray(at, at + length))).toBe(0)
        expect([view.getUint8(9), view.getUint8(length + 10)]).toEqual([0, 0])
        const chunks = Array.from({ length: into.length - 1 }, (_, index) => at + index * chunkBytes)
        const sums = chunks.map((from) => crc32(content.subarray(from, Math.min(from + chunkBytes, at + summedBytes))))
        expect([...into]).toEqual([...sums, 7])
      }
    })
  })

  test('a read past the end of the file returns the number of available bytes', async () => {
    const view = new DataView(new SharedArrayBuffer(MIB))
    await withFile(async (fd) => {
      expect(await reader.read(fd, content.length - 1000, view, 0, MIB, none)).toBe(1000)
      expect(await reader.read(fd, content.length + 1, view, 0, MIB, none)).toBe(0)
    })
  })

  test("reads into the addon's regions, and rejects transferable memory", async () => {
    const region = native.allocate(4096, 4096)
    const plain = new DataView(new ArrayBuffer(100))
    await withFile(async (fd) => {
      const into = new Uint32Array(1)
      const sums = { chunkBytes: 4096, summedBytes: 4096, into }
      expect(await reader.read(fd, 5, new DataView(region.buffer), 0, 4096, sums)).toBe(4096)
      expect(into[0]).toBe(crc32(content.subarray(5, 5 + 4096)))
      expect(reader.read(fd, 0, plain, 0, 100, none)).toBeUndefined()
    })
    expect(new Uint8Array(plain.buffer).every((byte) => byte === 0)).toBe(true)
    region.unmap()
  })

  test("reports system call failures with Node's error codes", async () => {
    const view = new DataView(new SharedArrayBuffer(16))
    await withFile(
      (fd) => expect(reader.read(fd, 0, view, 0, 16, none)).rejects.toMatchObject({ code: 'EBADF', syscall: 'pread' }),
      constants.O_WRONLY,
    )
  })

  test('ranges outside of memory and invalid arguments are rejected', async () => {
    const view = new DataView(new SharedArrayBuffer(16))
    await withFile((fd) => {
      expect(() => reader.read(fd, 0, view, 1, 16, none)).toThrow(
        /^lengthBytes: expected an integer from 0 to 15, got 16/,
      )
      expect(() => reader.read(fd, -1, view, 0, 16, none)).toThrow(/^fileOffsetBytes: /)
      expect(() => reader.read(-1, 0, view, 0, 16, none)).toThrow(/^fd: /)
      const sums = { chunkBytes: 4, summedBytes: 16, into: new Uint32Array(3) }
      expect(() => reader.read(fd, 0, view, 0, 16, sums)).toThrow('into: expected one element per chunk, got 3')
      expect(() => reader.read(fd, 0, view, 0, 12, { ...sums, into: new Uint32Array(4) })).toThrow(/^summedBytes: /)
    })
  })
})

/** Returns the length of all mappings of this process with MADV_HUGEPAGE. */
function advisedBytes(): number {
  const mappings = readFileSync('/proc/self/smaps', 'utf8').matchAll(/^Size: +(\d+) kB$[^]*?^VmFlags:(.*)$/gm)
  return [...mappings].reduce((sum, [, kib, flags]) => sum + (/ hg\b/.test(flags!) ? Number(kib) * 1024 : 0), 0)
}
