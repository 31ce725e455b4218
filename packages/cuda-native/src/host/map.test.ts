import { closeSync, openSync, readFileSync, writeSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { isMapped } from '../../test/mappings.js'
import { isBuilt, native, skipped } from '../../test/native.js'
import { scratchFile } from '../../test/scratch-file.js'

const PAGE = 4096

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Returns the bytes of a buffer after a byte stream has moved them to another ArrayBuffer and set the first byte to 1. */
async function moved(buffer: ArrayBuffer): Promise<Uint8Array> {
  const stream = new ReadableStream({
    type: 'bytes',
    pull({ byobRequest }: ReadableByteStreamController) {
      const view = byobRequest!.view as Uint8Array
      view[0] = 1
      byobRequest!.respond(1)
    },
  })
  const { value } = await stream.getReader({ mode: 'byob' }).read(new Uint8Array(buffer))
  return new Uint8Array(value!.buffer)
}

describe.skipIf(!isBuilt)(`map${skipped}`, () => {
  test('shows a file from the given offset, including later writes', () => {
    const content = new Uint8Array(3 * PAGE)
    content.set([0x11, 0x22, 0x33, 0x44], PAGE)
    using file = scratchFile(content)
    const region = native.map(file.fd, PAGE, 2 * PAGE, 'read')
    expect(region.lengthBytes).toBe(8192)
    expect(region.load32(0)).toBe(0x44332211)
    writeSync(file.fd, Uint8Array.of(0xef, 0xbe, 0xad, 0xde), 0, 4, 2 * PAGE)
    expect(region.load32(PAGE)).toBe(0xdeadbeef)
    region.unmap()
  })

  test('stores 32 and 64 bits in little-endian order, and changes no other byte', () => {
    using file = scratchFile(new Uint8Array(PAGE).fill(0xa5))
    const region = native.map(file.fd, 0, PAGE, 'read-write')
    region.store32(4, 0x04030201)
    region.store64(16, 0x1817161514131211n)
    region.unmap()
    expect([...readFileSync(file.path).subarray(0, 28)]).toEqual([
      ...[0xa5, 0xa5, 0xa5, 0xa5, 0x01, 0x02, 0x03, 0x04, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5],
      ...[0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0xa5, 0xa5, 0xa5, 0xa5],
    ])
  })

  test('loads all ones as unsigned numbers', () => {
    using file = scratchFile(new Uint8Array(PAGE).fill(0xff))
    const region = native.map(file.fd, 0, PAGE, 'read')
    expect(region.load32(0)).toBe(4294967295)
    expect(region.load64(8)).toBe(18446744073709551615n)
    region.unmap()
  })

  test('a region outlives the descriptor that it was mapped from', () => {
    using file = scratchFile(new Uint8Array(PAGE))
    const fd = openSync(file.path, 'r+')
    const region = native.map(fd, 0, PAGE, 'read-write')
    closeSync(fd)
    region.store32(0, 7)
    expect(readFileSync(file.path)[0]).toBe(7)
    region.unmap()
  })

  test('the buffer is the same memory', () => {
    using file = scratchFile(new Uint8Array(PAGE))
    const region = native.map(file.fd, 0, PAGE, 'read-write')
    expect(region.buffer).toBe(region.buffer)
    new DataView(region.buffer).setUint32(8, 0x01020304, true)
    expect(region.load32(8)).toBe(0x01020304)
    region.store32(12, 0x05060708)
    expect(new DataView(region.buffer).getUint32(12, true)).toBe(0x05060708)
    region.unmap()
  })

  test('a read-only region rejects stores, and has no writable buffer', () => {
    using file = scratchFile(new Uint8Array(PAGE), 'r')
    const region = native.map(file.fd, 0, PAGE, 'read')
    const refusal = /expected a region mapped 'read-write', got one mapped 'read'/
    expect(() => region.store32(0, 1)).toThrow(refusal)
    expect(() => region.store64(0, 1n)).toThrow(refusal)
    expect(() => region.buffer).toThrow(refusal)
    expect(() => native.view(region.address, 4)).toThrow(refusal)
    region.unmap()
  })

  test('a file opened for reading cannot be mapped for writing', () => {
    using file = scratchFile(new Uint8Array(PAGE), 'r')
    expect(() => native.map(file.fd, 0, PAGE, 'read-write')).toThrow(
      expect.objectContaining({ code: 'EACCES', errno: -13, syscall: 'mmap' }),
    )
  })

  test('a misaligned or out-of-range access throws a RangeError with the valid offsets', () => {
    using file = scratchFile(new Uint8Array(PAGE))
    const region = native.map(file.fd, 0, 30, 'read-write')
    for (const offset of [-4, 2, 28, 32, 4096, 0.5, NaN, Infinity, -Infinity, 2 ** 53]) {
      expect(() => region.load32(offset)).toThrow(
        new RangeError(`offsetBytes: expected a multiple of 4 from 0 to 24, got ${offset}`),
      )
      expect(() => region.store32(offset, 0)).toThrow(RangeError)
    }
    for (const offset of [-8, 4, 24, 4096, NaN]) {
      expect(() => region.load64(offset)).toThrow(
        new RangeError(`offsetBytes: expected a multiple of 8 from 0 to 16, got ${offset}`),
      )
      expect(() => region.store64(offset, 0n)).toThrow(RangeError)
    }
    expect(region.load32(24)).toBe(0)
    expect(region.load64(16)).toBe(0n)
    region.unmap()
  })

  test('a region shorter than a word rejects access to it', () => {
    using file = scratchFile(new Uint8Array(PAGE))
    const region = native.map(file.fd, 0, 3, 'read')
    expect(() => region.load32(0)).toThrow('offsetBytes: expected none, as the region has 3 bytes, got 0')
    region.unmap()
  })

  test('a value that does not fit its width is rejected, and nothing is stored', () => {
    using file = scratchFile(new Uint8Array(PAGE))
    const region = native.map(file.fd, 0, PAGE, 'read-write')
    for (const value of [-1, 0x1_0000_0000, 1.5, NaN]) {
      expect(() => region.store32(0, value)).toThrow(
        new RangeError(`value: expected an integer from 0 to 4294967295, got ${value}`),
      )
    }
    expect(() => region.store64(0, -1n)).toThrow('value: expected a BigInt from 0 to 2^64 - 1, got -1n')
    expect(() => region.store64(0, 1n << 64n)).toThrow(RangeError)
    expect(() => region.store64(0, 1 as unknown as bigint)).toThrow(new TypeError('value: expected a BigInt, got 1'))
    expect(() => region.store32('0' as unknown as number, 1)).toThrow(
      new TypeError('offsetBytes: expected a number, got a string'),
    )
    expect(region.load64(0)).toBe(0n)
    region.unmap()
  })

  test('after unmap the buffer is empty and every access throws', () => {
    using file = scratchFile(new Uint8Array(PAGE))
    const region = native.map(file.fd, 0, PAGE, 'read-write')
    const { address, buffer } = region
    expect(isMapped(address)).toBe(true)
    const view = native.view(address + 16n, 16)
    const bytes = new Uint8Array(buffer)
    region.unmap()
    expect([buffer.byteLength, region.buffer.byteLength, view.byteLength, bytes.length]).toEqual([0, 0, 0, 0])
    const unmapped = expect.objectContaining({ name: 'TypeError', code: 'ERR_GPUNVME_UNMAPPED' }) as Error
    expect(() => region.load32(0)).toThrow(unmapped)
    expect(() => region.store32(0, 1)).toThrow(unmapped)
    expect(() => region.load64(0)).toThrow(unmapped)
    expect(() => region.store64(0, 1n)).toThrow(unmapped)
    expect(() => native.view(address, 16)).toThrow(RangeError)
    expect(isMapped(address)).toBe(false)
    region.unmap()
    expect(() => region.load32(0)).toThrow(unmapped)
  })

  test('memory that a byte stream moves to another ArrayBuffer stays mapped until that one is garbage-collected', async () => {
    using file = scratchFile(new Uint8Array(PAGE).fill(7))
    const region = native.map(file.fd, 0, PAGE, 'read-write')
    const { address, buffer } = region
    await (async () => {
      const bytes = await moved(buffer)
      expect(buffer.byteLength).toBe(0)
      region.unmap()
      expect(isMapped(address)).toBe(true)
      expect(() => native.view(address, 16)).toThrow(RangeError)
      bytes[1] = 8
      expect([...bytes.subarray(0, 3)]).toEqual([1, 8, 7])
      expect(readFileSync(file.path)[1]).toBe(8)
    })()
    while (isMapped(address)) {
      collectGarbage()
      await turn()
    }
  })

  test('a buffer requested first after unmap is empty', () => {
    using file = scratchFile(new Uint8Array(PAGE))
    const region = native.map(file.fd, 0, PAGE, 'read-write')
    region.unmap()
    expect(region.buffer.byteLength).toBe(0)
  })

  test('invalid mappings are rejected before an access could end the process', () => {
    using file = scratchFile(new Uint8Array(PAGE + 100))
    expect(() => native.map(file.fd, 0, PAGE + 101, 'read')).toThrow(
      new RangeError('lengthBytes: expected no more than the 4196 bytes of the file from byte 0 on, got 4197'),
    )
    expect(() => native.map(file.fd, PAGE, 101, 'read')).toThrow(RangeError)
    expect(() => native.map(file.fd, 512, 8, 'read')).toThrow(
      new RangeError('offsetBytes: expected a multiple of 4096, got 512'),
    )
    expect(() => native.map(file.fd, 0, 0, 'read')).toThrow(
      new RangeError('lengthBytes: expected an integer from 1 to 9007199254740991, got 0'),
    )
    expect(() => native.map(-1, 0, 8, 'read')).toThrow(
      new RangeError('fd: expected an integer from 0 to 2147483647, got -1'),
    )
    expect(() => native.map(file.fd, 0, 8, 'write' as 'read')).toThrow(
      new TypeError(`access: expected 'read' or 'read-write', got "write"`),
    )
    expect(() => native.map(2 ** 30, 0, 8, 'read')).toThrow(
      expect.objectContaining({ code: 'EBADF', errno: -9, syscall: 'fstat' }),
    )
  })
})
