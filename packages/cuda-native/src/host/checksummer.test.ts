import { setImmediate as turn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { crc32 } from 'node:zlib'
import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { describe, expect, test } from 'vitest'
import { someBytes } from '../../test/device/bytes.js'
import { isBuilt, native, skipped } from '../../test/native.js'
import { addonPlaces } from '../native-addon.js'
import { nativeChecksummer } from './checksummer.js'

const MIB = 1024 * 1024

function memoryOf(view: DataView): DmaMemory {
  return {
    ...{ view, lengthBytes: view.byteLength, segments: [], iovaAt: () => 0 },
    ...{ forDevice: () => undefined, forHost: () => undefined, free: () => undefined },
  }
}

describe.skipIf(!isBuilt)(`native checksums${skipped}`, () => {
  const bytes = someBytes(37 * MIB + 1234)
  const memory = memoryOf(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  const checksummer = isBuilt ? nativeChecksummer() : undefined!

  test('equal those of zlib for any chunk size, in memory order', async () => {
    for (const [offset, length, chunk] of [
      [0, bytes.length, MIB],
      [3, 20 * MIB, 3 * MIB],
      [1, 100_000, 4096],
      [bytes.length - 5000, 5000, 5 * MIB],
      [17, 9 * MIB, 5 * MIB],
    ] as const) {
      const starts = Array.from({ length: Math.ceil(length / chunk) }, (_, index) => index * chunk)
      const into = new Uint32Array(starts.length + 1).fill(7)
      await checksummer.checksum(memory, offset, length, chunk, into)
      const expected = starts.map((at) => crc32(bytes.subarray(offset + at, offset + Math.min(at + chunk, length))))
      expect([...into]).toEqual([...expected, 7])
    }
  })

  test('are computed of any memory with a view: shared memory, and regions of the addon', async () => {
    const shared = new DataView(new SharedArrayBuffer(16), 4, 9)
    const region = native.allocate(4096, 4096)
    for (const view of [shared, new DataView(region.buffer, 100, 9)]) {
      new Uint8Array(view.buffer, view.byteOffset, 9).set(new TextEncoder().encode('123456789'))
      const into = new Uint32Array(1)
      await checksummer.checksum(memoryOf(view), 0, 9, 9, into)
      expect(into[0]).toBe(0xcbf43926)
    }
    region.unmap()
  })

  test('do not block the event loop, overlap, and can be aborted', async () => {
    const into = [new Uint32Array(40), new Uint32Array(40)]
    let ended = 0
    const sums = into.map(async (each) => {
      await checksummer.checksum(memory, 0, bytes.length, MIB, each)
      ended++
    })
    let turns = 0
    while (ended < 2) {
      await turn()
      turns++
    }
    await Promise.all(sums)
    expect(turns).toBeGreaterThan(1)
    expect([...into[0]!]).toEqual([...into[1]!])

    const abort = new AbortController()
    const aborted = checksummer.checksum(memory, 0, bytes.length, MIB, into[0]!, { signal: abort.signal })
    abort.abort(new Error('not now'))
    await expect(aborted).rejects.toThrow('not now')
  })

  test('keep the memory of a region that is unmapped meanwhile', async () => {
    const region = native.allocate(16 * MIB, 4096)
    new Uint8Array(region.buffer).fill(1)
    const into = new Uint32Array(1)
    const sum = checksummer.checksum(memoryOf(new DataView(region.buffer)), 0, 16 * MIB, 16 * MIB, into)
    region.unmap()
    await sum
    expect(into[0]).toBe(crc32(new Uint8Array(16 * MIB).fill(1)))
  })

  test('are those of the memory at the call if it is transferred or resized later', async () => {
    const bytes = 64 * MIB
    const expected = crc32(new Uint8Array(bytes).fill(1))
    // Node.js 20 has these methods, but its type declarations do not.
    type Resizable = ArrayBuffer & { resize: (bytes: number) => void }
    const Resizable = ArrayBuffer as unknown as new (bytes: number, options: { maxByteLength: number }) => Resizable
    const resizable = new Resizable(bytes, { maxByteLength: bytes })
    const takeAway: [ArrayBuffer, (buffer: ArrayBuffer) => unknown][] = [
      [new ArrayBuffer(bytes), (buffer) => structuredClone(buffer, { transfer: [buffer] })],
      [resizable, () => resizable.resize(0)],
    ]
    for (const [buffer, take] of takeAway) {
      new Uint8Array(buffer).fill(1)
      const into = new Uint32Array(1)
      const sum = checksummer.checksum(memoryOf(new DataView(buffer)), 0, bytes, bytes, into)
      take(buffer)
      expect(buffer.byteLength).toBe(0)
      await sum
      expect(into[0]).toBe(expected)
    }
  })

  test('reject memory or a result array that is detached before the checksums are complete', async () => {
    const buffer = new ArrayBuffer(32 * MIB)
    const sum = checksummer.checksum(memoryOf(new DataView(buffer)), 0, 32 * MIB, MIB, new Uint32Array(32))
    structuredClone(buffer, { transfer: [buffer] })
    await expect(sum).rejects.toThrow(/^offsetBytes: expected an integer from 0 to 0, got/)

    const region = native.allocate(16 * MIB, 4096)
    const words = new ArrayBuffer(4)
    const lost = checksummer.checksum(
      memoryOf(new DataView(region.buffer)),
      0,
      16 * MIB,
      16 * MIB,
      new Uint32Array(words),
    )
    structuredClone(words, { transfer: [words] })
    await expect(lost).rejects.toThrow(new RangeError('into: expected one element per chunk, got 0'))
    region.unmap()
  })

  test('keep memory without other references', async () => {
    const into = new Uint32Array(16)
    const start = () => checksummer.checksum(memoryOf(new DataView(new ArrayBuffer(16 * MIB))), 0, 16 * MIB, MIB, into)
    await Promise.all(Array.from({ length: 20 }, start))
    // CRC-32 of 1 MiB of zeros, by zlib.
    expect([...into]).toEqual(Array(16).fill(0xa738ea1c))
  })

  test('may be in progress when their thread ends', async () => {
    const addon = addonPlaces('gpunvme_host').find((path) => path.includes('build')) ?? addonPlaces('gpunvme_host')[1]!
    const script = `
      const { parentPort, workerData } = require('node:worker_threads')
      const { checksum } = require(workerData)
      // Keeps the thread alive until it is terminated, however late that is.
      parentPort.on('message', () => {})
      const view = new DataView(new SharedArrayBuffer(64 << 20))
      for (let i = 0; i < 8; i++) checksum(view, 0, 64 << 20, 1 << 20, new Uint32Array(64))
      parentPort.postMessage('begun')
    `
    for (let i = 0; i < 3; i++) {
      const worker = new Worker(script, { eval: true, workerData: addon })
      await new Promise((done) => worker.once('message', done))
      expect(await worker.terminate()).toBeGreaterThanOrEqual(0)
    }
  }, 60_000)

  test('reject invalid ranges, chunk sizes, results and memory', async () => {
    const into = new Uint32Array(4)
    const sum = (offset: number, length: number, chunk: number) =>
      checksummer.checksum(memory, offset, length, chunk, into)
    await expect(sum(bytes.length - 1, 2, 1)).rejects.toThrow(RangeError)
    await expect(sum(-1, 2, 1)).rejects.toThrow(/^memory: expected a range inside 0 to/)
    await expect(sum(0, 2, 0)).rejects.toThrow(new RangeError('chunkBytes: expected a positive integer, got 0'))
    await expect(sum(0, 5, 1)).rejects.toThrow(new RangeError('into: expected 5 elements, got 4'))
    const { view, ...hidden } = memory
    expect(view).toBeDefined()
    await expect(checksummer.checksum(hidden, 0, 1, 1, into)).rejects.toThrow(TypeError)
  })

  test('report their implementation', () => {
    expect(checksummer.name).toMatch(/^native \((avx512|pclmulqdq|tables)\)$/)
  })
})
