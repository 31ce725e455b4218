import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { hostMemory } from '../../test/host-memory.js'
import { openFileStore } from './file-store.js'

const folder = scratch()
const path = join(folder, 'model.bin')
const content = Uint8Array.from({ length: 9_000_001 }, (_, index) => (index * 7) ^ (index >>> 11))
writeFileSync(path, content)

/** Whether the file system of the tests supports O_DIRECT. */
const hasDirect = (() => {
  try {
    closeSync(openSync(path, constants.O_RDONLY | constants.O_DIRECT))
    return true
  } catch {
    return false
  }
})()

/** Returns the open flags of all descriptors of this path, from /proc. */
function openFlags(): number[] {
  const open = readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path
    } catch {
      // The descriptor of /proc/self/fd itself is closed.
      return false
    }
  })
  return open.map((fd) =>
    Number.parseInt(/^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))![1]!, 8),
  )
}

const withoutDirect = hasDirect ? '' : '(skipped: the file system of temporary files has no O_DIRECT)'

describe.each([
  { how: 'pread', direct: false, skipped: '' },
  { how: 'direct', direct: true, skipped: withoutDirect },
])('a file store with $how $skipped', ({ how, direct, skipped }) => {
  beforeEach(({ skip }) => skip(skipped !== '', skipped))

  test('reads into memory at an offset above 4 GiB', async ({ skip }) => {
    await using store = await openFileStore(path, { direct })
    const memory = (() => {
      try {
        return store.dma.alloc(5 * 2 ** 30)
      } catch (error) {
        return skip(`5 GiB of memory cannot be reserved: ${(error as Error).message}`)
      }
    })()
    const memoryBytes = 4.5 * 2 ** 30
    await store.read([{ offsetBytes: 0, lengthBytes: store.capacityBytes, memoryBytes }], memory)
    const { buffer, byteOffset } = memory.view!
    const bytes = new Uint8Array(buffer, byteOffset + memoryBytes, store.capacityBytes)
    expect(Buffer.compare(bytes.subarray(0, content.length), content)).toBe(0)
    expect(bytes.subarray(content.length).every((byte) => byte === 0)).toBe(true)
  })

  test('reads a complete file, pads the last block with zeros, and reports its path of I/O', async () => {
    await using store = await openFileStore(path, { direct })
    expect(store).toMatchObject({
      ...{ name: path, path: how, directRefusal: undefined, movesData: undefined },
      ...{ blockBytes: 4096, sizeBytes: 9_000_001, capacityBytes: 2198 * 4096 },
    })
    expect(openFlags().map((flags) => (flags & constants.O_DIRECT) !== 0)).toEqual([direct])
    const memory = store.dma.alloc(store.capacityBytes + 8192)
    const bytes = new Uint8Array(memory.view!.buffer).fill(0xa5)
    const transfer = { offsetBytes: 0, lengthBytes: store.capacityBytes, memoryBytes: 4096 }
    const { startNs, endNs, ...summary } = await store.read([transfer], memory)
    expect(summary).toEqual({ bytes: store.capacityBytes, commands: 2 })
    expect(endNs).toBeGreaterThan(startNs)
    expect(Buffer.compare(bytes.subarray(4096, 4096 + content.length), content)).toBe(0)
    const after = bytes.subarray(4096 + content.length, 4096 + store.capacityBytes)
    expect(after.every((byte) => byte === 0)).toBe(true)
    expect([bytes[4095], bytes[4096 + store.capacityBytes]]).toEqual([0xa5, 0xa5])
  })

  test('reads runs of 512-byte blocks at any offset', async () => {
    await using store = await openFileStore(path, { direct, blockBytes: 512 })
    const memory = store.dma.alloc(4096)
    const transfers = [
      { offsetBytes: 512 * 1001, lengthBytes: 1024, memoryBytes: 512 },
      { offsetBytes: 0, lengthBytes: 512, memoryBytes: 0 },
      { offsetBytes: 512 * 5859, lengthBytes: 512, memoryBytes: 2048 },
    ]
    await store.read(transfers, memory)
    for (const { offsetBytes, lengthBytes, memoryBytes } of transfers) {
      const expected = new Uint8Array(lengthBytes)
      expected.set(content.subarray(offsetBytes, offsetBytes + lengthBytes))
      expect(new Uint8Array(memory.view!.buffer, memoryBytes, lengthBytes)).toEqual(expected)
    }
  })

  test('fails only reads beyond the end of a truncated file', async () => {
    const other = join(folder, `shorter-${how}`)
    writeFileSync(other, content)
    await using store = await openFileStore(other, { direct })
    writeFileSync(other, content.subarray(0, 8192))
    const memory = store.dma.alloc(16_384)
    await store.read([{ offsetBytes: 4096, lengthBytes: 4096, memoryBytes: 0 }], memory)
    await expect(store.read([{ offsetBytes: 0, lengthBytes: 16_384, memoryBytes: 0 }], memory)).rejects.toMatchObject({
      code: 'ERR_GPUNVME_SOURCE_READ',
      message: expect.stringContaining(`Cannot read ${other}: it now ends at byte 8192`) as string,
    })
  })
})

test('a buffered file store supports blocks of 1 byte', async () => {
  await using store = await openFileStore(path, { blockBytes: 1 })
  expect(store.capacityBytes).toBe(9_000_001)
  const bytes = new Uint8Array(7)
  await store.read([{ offsetBytes: 8_999_998, lengthBytes: 3, memoryBytes: 1 }], hostMemory(bytes))
  expect([...bytes]).toEqual([0, ...content.subarray(-3), 0, 0, 0])
})

test("direct: 'auto' falls back to buffered reads and reports the reason", async () => {
  await using can = await openFileStore(path, { direct: 'auto' })
  expect(can.path).toBe(hasDirect ? 'direct' : 'pread')
  // Files of procfs do not support O_DIRECT.
  await using cannot = await openFileStore('/proc/self/status', { direct: 'auto' })
  expect(cannot.path).toBe('pread')
  expect(cannot.directRefusal).toMatchObject({
    code: 'ERR_GPUNVME_DIRECT_READ',
    facts: ['with blocks of 4096 bytes: EINVAL'],
  })
  await expect(openFileStore('/proc/self/status', { direct: true })).rejects.toThrow(
    /^Cannot read \/proc\/self\/status with O_DIRECT\n {2}with blocks of 4096 bytes: EINVAL/,
  )
})

test.skipIf(!hasDirect)(`direct I/O rejects unaligned memory offsets${withoutDirect}`, async () => {
  await using store = await openFileStore(path, { direct: true })
  const block = { offsetBytes: 0, lengthBytes: 4096, memoryBytes: 512 }
  await expect(store.read([block], store.dma.alloc(8192))).rejects.toThrow(
    new RangeError(`${path}: expected memory offsets that are multiples of 4096 bytes, as O_DIRECT requires, got 512`),
  )
})

test('a block device has its exact size, even if that is not a multiple of the block size', async ({ skip }) => {
  const image = join(folder, 'device')
  writeFileSync(image, content.subarray(0, 512 * 9003))
  const losetup = (...args: string[]) => execFileSync('/usr/sbin/losetup', args, { stdio: 'pipe', encoding: 'utf8' })
  let loop: string
  try {
    loop = losetup('--find', '--show', image).trim()
  } catch (error) {
    return skip(`[loop] no loop device can be made here: ${String(error).split('\n')[0]}`)
  }
  try {
    for (const direct of [false, 'auto'] as const) {
      await using store = await openFileStore(loop, { direct })
      expect(store).toMatchObject({ sizeBytes: 512 * 9003, capacityBytes: 4096 * 1126 })
      const memory = store.dma.alloc(store.capacityBytes)
      await store.read([{ offsetBytes: 0, lengthBytes: store.capacityBytes, memoryBytes: 0 }], memory)
      const expected = new Uint8Array(store.capacityBytes)
      expected.set(content.subarray(0, 512 * 9003))
      expect(Buffer.compare(new Uint8Array(memory.view!.buffer, 0, store.capacityBytes), expected)).toBe(0)
    }
  } finally {
    losetup('--detach', loop)
  }
}, 60_000)

test('openFileStore rejects missing files, directories, devices and invalid options', async () => {
  await expect(openFileStore(join(folder, 'nothing'))).rejects.toMatchObject({ code: 'ERR_GPUNVME_MODEL_NOT_FOUND' })
  await expect(openFileStore(folder)).rejects.toMatchObject({ code: 'ERR_GPUNVME_MODEL_NOT_A_FILE' })
  await expect(openFileStore('/dev/zero')).rejects.toMatchObject({ code: 'ERR_GPUNVME_MODEL_NOT_A_FILE' })
  for (const blockBytes of [0, 3, 0.5, 131_072, NaN]) {
    await expect(openFileStore(path, { blockBytes })).rejects.toThrow(/^blockBytes: expected a power of two from 1/)
  }
  await expect(openFileStore(path, { direct: 'yes' as 'auto' })).rejects.toThrow(
    new TypeError("direct: expected true, false or 'auto', got yes"),
  )
  expect(openFlags()).toEqual([])
})
