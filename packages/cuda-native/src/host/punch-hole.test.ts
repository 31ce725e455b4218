import { closeSync, constants, fstatSync, fsyncSync, openSync, readFileSync } from 'node:fs'
import { Controller } from '@gpunvme/host-driver'
import { fileMedia } from '@gpunvme/nvme-sim/file-media'
import { startRealTimeSimulator } from '@gpunvme/nvme-sim/realtime'
import { nativeHostModule } from '@gpunvme/cuda-native/host'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isBuilt, native, skipped, sockets } from '../../test/native.js'
import { scratchFile, type ScratchFile } from '../../test/scratch-file.js'
import { serve } from '../../test/vfio-user/served.js'

const MIB = 1024 * 1024

/** File content without zero bytes. */
const content = Uint8Array.from({ length: 4 * MIB }, (_, index) => (index % 255) + 1)

/** Returns the allocated size after fsync: some file systems do not count unwritten pages. */
function allocatedBytes({ fd }: Pick<ScratchFile, 'fd'>): number {
  fsyncSync(fd)
  return fstatSync(fd).blocks * 512
}

/** Returns `content` with zeros in a range. */
function without(offsetBytes: number, lengthBytes: number): Uint8Array {
  return content.slice().fill(0, offsetBytes, offsetBytes + lengthBytes)
}

describe.skipIf(!isBuilt)(`punchHole${skipped}`, () => {
  test.each([
    ['whole blocks', MIB, 2 * MIB],
    ['the end of a file', 3 * MIB, MIB],
    ['all of a file', 0, 4 * MIB],
    ['a sector of 512 bytes, and no byte beside it', MIB + 512, 512],
    ['a range that begins and ends inside blocks', MIB - 512, 2 * MIB + 1024],
    ['a byte', 12_345, 1],
  ])('zeroes %s, and the file keeps its size', (_, offsetBytes, lengthBytes) => {
    using file = scratchFile(content)
    const before = allocatedBytes(file)
    expect(sockets.punchHole(file.fd, offsetBytes, lengthBytes)).toBe(true)
    expect(Buffer.compare(readFileSync(file.path), without(offsetBytes, lengthBytes))).toBe(0)
    // The remaining extents may need additional blocks.
    const blocks = Math.floor(lengthBytes / MIB) * MIB
    expect(allocatedBytes(file)).toBeLessThanOrEqual(before - blocks + 65_536)
  })

  test('does nothing beyond the end of a file, which does not grow', () => {
    using file = scratchFile(content)
    expect(sockets.punchHole(file.fd, 4 * MIB, 2 ** 40)).toBe(true)
    expect(sockets.punchHole(file.fd, 3 * MIB, 2 ** 40)).toBe(true)
    expect(Buffer.compare(readFileSync(file.path), without(3 * MIB, MIB))).toBe(0)
  })

  test('throws EFBIG or does nothing beyond the size that the file system allows a file', () => {
    using file = scratchFile(content)
    let result: unknown
    try {
      result = sockets.punchHole(file.fd, 2 ** 53 - 4096, 4096)
    } catch (error) {
      result = error
    }
    // ext4 allows 16 TiB, tmpfs and XFS more than 2^53 bytes.
    const refused: unknown = expect.objectContaining({ code: 'EFBIG', errno: -27, syscall: 'fallocate' })
    expect([true, refused]).toContainEqual(result)
    expect(Buffer.compare(readFileSync(file.path), content)).toBe(0)
  })

  test('returns false and changes nothing on a file system without hole support', () => {
    // A regular file of procfs, which has no fallocate.
    const fd = openSync('/proc/self/comm', constants.O_RDWR)
    onTestFinished(() => closeSync(fd))
    const before = readFileSync('/proc/self/comm', 'utf8')
    expect(sockets.punchHole(fd, 0, 4096)).toBe(false)
    expect(readFileSync('/proc/self/comm', 'utf8')).toBe(before)
  })

  test('throws other kernel errors in the format of fs', () => {
    using file = scratchFile(content, 'r')
    const refused = (code: string, errno: number) =>
      expect.objectContaining({ code, errno, syscall: 'fallocate' }) as Error
    // Open for reading only; not a descriptor; a device.
    expect(() => sockets.punchHole(file.fd, 0, 4096)).toThrow(refused('EBADF', -9))
    expect(() => sockets.punchHole(2 ** 30, 0, 4096)).toThrow(refused('EBADF', -9))
    const device = openSync('/dev/null', 'r+')
    onTestFinished(() => closeSync(device))
    expect(() => sockets.punchHole(device, 0, 4096)).toThrow(refused('ENODEV', -19))
    expect(Buffer.compare(readFileSync(file.path), content)).toBe(0)
  })

  test.each([
    ['fd', -1, 0, 512],
    ['offsetBytes', 0, -512, 512],
    ['offsetBytes', 0, 0.5, 512],
    ['offsetBytes', 0, 2 ** 53, 512],
    ['lengthBytes', 0, 0, 0],
    ['lengthBytes', 0, 0, NaN],
    ['lengthBytes', 0, 0, Infinity],
  ])('rejects an invalid %s: %d, %d, %d', (name, fd, offsetBytes, lengthBytes) => {
    expect(() => sockets.punchHole(fd, offsetBytes, lengthBytes)).toThrow(RangeError)
    expect(() => sockets.punchHole(fd, offsetBytes, lengthBytes)).toThrow(`${name}: expected an integer from`)
  })

  test('rejects arguments of other types', () => {
    expect(() => sockets.punchHole(0, 0n as never, 512)).toThrow(
      new TypeError('offsetBytes: expected a number, got 0n'),
    )
    expect(() => sockets.punchHole(0, 0, undefined as never)).toThrow(
      new TypeError('lengthBytes: expected a number, got undefined'),
    )
  })
})

describe.skipIf(!isBuilt)(`deallocation in an image${skipped}`, () => {
  test('frees disk space with punchHole of loadHardwareHost()', () => {
    using file = scratchFile(content)
    const media = fileMedia(file.path, { punchHole: native.punchHole!.bind(native) })
    onTestFinished(() => media.close())
    expect(media.deallocatePart!(MIB, 3 * MIB)).toBe(3 * MIB)
    expect(Buffer.compare(readFileSync(file.path), without(MIB, 3 * MIB))).toBe(0)
    expect(allocatedBytes(file)).toBeLessThan(2 * MIB)
  })

  const write = { serial: 'GPUNVME-SIM-1' }

  test('frees disk space in a real-time simulator on the addon', async () => {
    using file = scratchFile(content)
    const memory = native.allocate(8 * MIB, 4096)
    const { address, lengthBytes } = memory
    const simulator = await startRealTimeSimulator({
      ...{ module: nativeHostModule, address, lengthBytes },
      namespaces: [{ file: { path: file.path } }],
    })
    {
      await using controller = await Controller.open(simulator.transport, { write })
      const namespace = controller.namespace(1)
      await namespace.deallocate([{ slba: 2048, blocks: 6144 }])
      await namespace.flush()
    }
    expect(await simulator.diagnostics()).toEqual([])
    await simulator.close()
    memory.unmap()
    expect(Buffer.compare(readFileSync(file.path), without(MIB, 3 * MIB))).toBe(0)
    expect(allocatedBytes(file)).toBeLessThan(2 * MIB)
  })

  test('frees disk space in a vfio-user server on the addon', async () => {
    using file = scratchFile(content)
    const served = await serve(() => ({ namespaces: [{ file: { path: file.path } }] }))
    try {
      await using controller = await Controller.open(await served.open(), { write })
      await controller.namespace(1).writeZeroes(2048, 6144, { deallocate: true })
      await controller.namespace(1).flush()
    } finally {
      await served.close()
    }
    expect(Buffer.compare(readFileSync(file.path), without(MIB, 3 * MIB))).toBe(0)
    expect(allocatedBytes(file)).toBeLessThan(2 * MIB)
  })
})
