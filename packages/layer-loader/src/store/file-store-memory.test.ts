import { expect, test } from 'vitest'
import { fileMemory } from './file-store-memory.js'

test('fileMemory allocates zeroed memory of the exact length without device addresses', () => {
  const memory = fileMemory.alloc(70_000)
  expect(memory.lengthBytes).toBe(70_000)
  expect(memory.view!.byteLength).toBe(70_000)
  expect(memory.view!.byteOffset).toBe(0)
  expect(new Uint8Array(memory.view!.buffer).every((byte) => byte === 0)).toBe(true)
  expect(memory.segments).toEqual([])
  expect(() => memory.iovaAt(0)).toThrow(TypeError)
  memory.forDevice(0, 70_000)
  memory.free()
  for (const use of [() => memory.free(), () => memory.forHost(0, 1), () => memory.forDevice(0, 1)]) {
    expect(use).toThrow(new TypeError('this memory was freed'))
  }
})

test('fileMemory rejects invalid lengths, alignments and kinds of memory', () => {
  for (const lengthBytes of [0, -1, 0.5, NaN]) {
    expect(() => fileMemory.alloc(lengthBytes)).toThrow(/^lengthBytes: expected at least 1 byte/)
  }
  expect(() => fileMemory.alloc(2 ** 52)).toThrow(RangeError)
  fileMemory.alloc(1, { alignBytes: 65_536 })
  for (const alignBytes of [0, 3, 131_072, NaN]) {
    expect(() => fileMemory.alloc(1, { alignBytes })).toThrow(RangeError)
  }
  expect(() => fileMemory.alloc(1, { where: 'gpu' })).toThrow(
    new TypeError("where: expected 'host', got 'gpu': files are read into host memory"),
  )
  expect(() => fileMemory.alloc(1, { contiguous: true })).toThrow(TypeError)
})

test('freed memory returns to the system before much more is allocated', async () => {
  const MIB = 1024 * 1024
  const beforeBytes = process.memoryUsage.rss()
  let maxBytes = 0
  for (let count = 0; count < 40; count++) {
    const memory = fileMemory.alloc(32 * MIB)
    for (let at = 0; at < 32 * MIB; at += 4096) memory.view!.setUint8(at, 1)
    memory.free()
    maxBytes = Math.max(maxBytes, process.memoryUsage.rss() - beforeBytes)
    await new Promise(setImmediate)
  }
  expect(maxBytes).toBeLessThan(1024 * MIB)
})

test('memory is shared, so that checksums can be computed on other threads', () => {
  expect(fileMemory.alloc(4096).view!.buffer).toBeInstanceOf(SharedArrayBuffer)
})
