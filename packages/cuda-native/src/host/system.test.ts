import { execFileSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isBuilt, native, skipped } from '../../test/native.js'
import { scratchFile } from '../../test/scratch-file.js'

// asm-generic/ioctls.h and linux/fs.h
const TCGETS = 0x5401
const FIONREAD = 0x541b
const TIOCGWINSZ = 0x5413
const FS_IOC_GETFLAGS = 0x80086601

const MS = 1_000_000

/** Creates a named pipe, so that both ends can be opened. */
function pipe() {
  const folder = mkdtempSync(join(tmpdir(), 'gpunvme-pipe-'))
  const path = join(folder, 'pipe')
  execFileSync('mkfifo', [path])
  const read = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  let write: number | undefined = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK)
  const closeWrite = () => {
    if (write !== undefined) closeSync(write)
    write = undefined
  }
  return {
    read,
    write,
    closeWrite,
    [Symbol.dispose]() {
      closeSync(read)
      closeWrite()
      rmSync(folder, { recursive: true })
    },
  }
}

describe.skipIf(!isBuilt)(`ioctl${skipped}`, () => {
  test('fills the structure in place, and returns the result of the call', () => {
    using ends = pipe()
    writeSync(ends.write, 'seven b')
    const count = new Uint8Array(4)
    expect(native.ioctl(ends.read, FIONREAD, count)).toBe(0)
    expect([...count]).toEqual([7, 0, 0, 0])
  })

  test('throws kernel errors in the format of fs', () => {
    using ends = pipe()
    expect(() => native.ioctl(ends.read, TIOCGWINSZ, new Uint8Array(8))).toThrow(
      expect.objectContaining({ code: 'ENOTTY', errno: -25, syscall: 'ioctl' }),
    )
    expect(() => native.ioctlNumber(2 ** 30, 0x3b64, 0)).toThrow(
      expect.objectContaining({ code: 'EBADF', errno: -9, syscall: 'ioctl' }),
    )
  })

  test('rejects a structure that is shorter than the size in the request, beyond which the kernel would write', () => {
    using file = scratchFile(new Uint8Array(1))
    expect(() => native.ioctl(file.fd, FS_IOC_GETFLAGS, new Uint8Array(4))).toThrow(
      new RangeError('argument: expected at least 8 bytes, the size in request 0x80086601, got 4'),
    )
  })

  test('rejects a structure that is shorter than the data from the kernel, without writing past its end', () => {
    // A terminal's TCGETS writes 36 bytes; its number contains no length.
    const terminal = openSync('/dev/ptmx', constants.O_RDWR | constants.O_NOCTTY)
    try {
      const all = new Uint8Array(64)
      expect(native.ioctl(terminal, TCGETS, all)).toBe(0)
      const memory = new Uint8Array(64).fill(0xa5)
      expect(() => native.ioctl(terminal, TCGETS, memory.subarray(0, 1))).toThrow(
        new RangeError('argument: expected the whole structure that request 0x5401 writes, got 1'),
      )
      expect(memory).toEqual(Uint8Array.from([all[0]!, ...new Uint8Array(63).fill(0xa5)]))
    } finally {
      closeSync(terminal)
    }
  })

  test('rejects a number that could be an address, which a request with a pointer would write to', () => {
    using file = scratchFile(new Uint8Array(1))
    expect(() => native.ioctlNumber(file.fd, TCGETS, 65_536)).toThrow(
      new RangeError('argument: expected an integer from -2147483648 to 65535, got 65536'),
    )
  })

  test('rejects arguments of other types', () => {
    using ends = pipe()
    expect(() => native.ioctl(ends.read, FIONREAD, new Uint32Array(1) as unknown as Uint8Array)).toThrow(
      new TypeError('argument: expected a Uint8Array, got an object'),
    )
    expect(() => native.ioctl(ends.read, 2 ** 32, new Uint8Array(4))).toThrow(
      new RangeError('request: expected an integer from 0 to 4294967295, got 4294967296'),
    )
    expect(() => native.ioctlNumber(ends.read, FIONREAD, 0.5)).toThrow(RangeError)
  })
})

describe.skipIf(!isBuilt)(`eventfd and waitReadable${skipped}`, () => {
  const one = new Uint8Array(new BigUint64Array([1n]).buffer)

  test('return a non-blocking eventfd that counts, and is closed like any file', () => {
    const fd = native.eventfd()
    expect(() => readSync(fd, new Uint8Array(8))).toThrow(expect.objectContaining({ code: 'EAGAIN' }))
    writeSync(fd, one)
    writeSync(fd, one)
    const count = new Uint8Array(8)
    readSync(fd, count)
    expect(count[0]).toBe(2)
    closeSync(fd)
  })

  test('resolve with true when there is something to read, immediately or later', async () => {
    const fd = native.eventfd()
    writeSync(fd, one)
    expect(await native.waitReadable(fd, 0)).toBe(true)
    expect(await native.waitReadable(fd, 10_000 * MS)).toBe(true)
    readSync(fd, new Uint8Array(8))
    const later = native.waitReadable(fd, 10_000 * MS)
    setTimeout(() => writeSync(fd, one), 5)
    expect(await later).toBe(true)
    closeSync(fd)
  })

  test('resolve with false at the deadline', async () => {
    const fd = native.eventfd()
    expect(await native.waitReadable(fd, 0)).toBe(false)
    expect(await native.waitReadable(fd, 2 * MS)).toBe(false)
    closeSync(fd)
  })

  test('allow forty waits at a time, without delaying file system calls', async () => {
    const fds = Array.from({ length: 40 }, () => native.eventfd())
    const waits = fds.map((fd) => native.waitReadable(fd, 20_000 * MS))
    using file = scratchFile(new Uint8Array(1))
    const { readFile } = await import('node:fs/promises')
    expect(await readFile(file.path)).toHaveLength(1)
    for (const fd of fds.toReversed()) writeSync(fd, one)
    expect(await Promise.all(waits)).toEqual(fds.map(() => true))
    for (const fd of fds) closeSync(fd)
  })

  test('treat data in a pipe, and its end, as something to read', async () => {
    using ends = pipe()
    expect(await native.waitReadable(ends.read, 0)).toBe(false)
    writeSync(ends.write, 'x')
    expect(await native.waitReadable(ends.read, 0)).toBe(true)
    readSync(ends.read, new Uint8Array(1))
    ends.closeWrite()
    expect(await native.waitReadable(ends.read, 10_000 * MS)).toBe(true)
  })

  test('reject invalid descriptors and infinite timeouts', async () => {
    await expect(native.waitReadable(2 ** 30, 10_000 * MS)).rejects.toMatchObject({
      code: 'EBADF',
      errno: -9,
      syscall: 'poll',
    })
    expect(() => native.waitReadable(0, Infinity)).toThrow(
      new RangeError('timeoutNs: expected nanoseconds from 0 to 2^53 - 1, got Infinity'),
    )
    expect(() => native.waitReadable(0, -1)).toThrow(RangeError)
    expect(() => native.waitReadable(0, NaN)).toThrow(RangeError)
  })
})
