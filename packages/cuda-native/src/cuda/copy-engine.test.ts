import { afterEach, describe, expect, test } from 'vitest'
import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { CudaCallError, CudaTimeoutError, openCuda, type Cuda } from './index.js'
import { hasStandin, NOTHING, skippedWithoutStandin, until, useStandin } from '../../test/standin/standin.js'
import { native } from '../../test/native.js'

const standin = useStandin()
let cuda: Cuda
const open = () => (cuda = openCuda())

/** Returns part of an ArrayBuffer as memory for a controller; `told` lists the ranges passed to `forHost`. */
function dma(buffer: ArrayBufferLike, offsetBytes = 0, lengthBytes = buffer.byteLength - offsetBytes) {
  const told: [number, number][] = []
  const memory: DmaMemory = {
    lengthBytes,
    view: new DataView(buffer, offsetBytes, lengthBytes),
    segments: [],
    iovaAt: (at) => at,
    forDevice: () => undefined,
    forHost: (...part) => told.push(part),
    free: () => undefined,
  }
  return Object.assign(memory, { told })
}

describe.skipIf(!hasStandin)(`a copy engine${skippedWithoutStandin}`, () => {
  afterEach(async () => {
    standin.holdCopies(false)
    await cuda.close()
    expect(standin.live()).toEqual(NOTHING)
  })

  test('copies parts of host memory to the requested offsets', async () => {
    const engine = open().copyEngine()
    const from = dma(Uint8Array.from({ length: 64 }, (_, index) => index).buffer, 16)
    const to = engine.alloc(16)
    await to.fill(0xff)
    await engine.copy(from, 8, to, 4, 6)
    expect([...(await to.read())]).toEqual([
      ...Array<number>(4).fill(255),
      24,
      25,
      26,
      27,
      28,
      29,
      ...Array<number>(6).fill(255),
    ])
    // forHost is called for the range before the copy.
    expect(from.told).toEqual([[8, 6]])
    await engine.copy(from, 0, to, 0, 0)
    expect(standin.copies()).toMatchObject({ done: 2 })
  })

  test('copies from a SharedArrayBuffer, registered from its first byte', async () => {
    const shared = new SharedArrayBuffer(12288)
    new Uint8Array(shared).set([1, 2, 3, 4], 5000)
    const engine = open().copyEngine()
    const to = engine.alloc(4)
    await engine.copy(dma(shared, 4096), 904, to, 0, 4)
    expect([...(await to.read())]).toEqual([1, 2, 3, 4])
    expect(standin.live().registered).toBe(1)
  })

  test('runs several copies at a time, which end in call order, without blocking the event loop', async () => {
    const engine = open().copyEngine()
    const from = dma(new Uint8Array(3).fill(7).buffer)
    const to = engine.alloc(3)
    await to.fill(0)
    standin.holdCopies(true)
    const ended: number[] = []
    const copies = [0, 1, 2].map((at) => engine.copy(from, at, to, at, 1).then(() => ended.push(at)))
    await until(() => standin.copies().started === 1)
    expect(ended).toEqual([])
    // Nothing may be freed before the copies have ended.
    expect(() => to.free()).toThrow(
      new TypeError('memory: expected memory that is not in use, got memory with 3 copies in progress'),
    )
    expect(() => engine.close()).toThrow(TypeError)
    standin.holdCopies(false)
    await Promise.all(copies)
    expect(ended).toEqual([0, 1, 2])
    expect([...(await to.read())]).toEqual([7, 7, 7])
    to.free()
    engine.close()
    await expect(engine.copy(from, 0, to, 0, 1)).rejects.toThrow(TypeError)
    expect(() => engine.close()).toThrow(TypeError)
  })

  test('copies while a kernel runs', async () => {
    const flag = open().allocPinned(4)
    cuda.loadKernels(standin.ptx)
    cuda.launch('standin_wait', 1, 1, [flag.gpuPointer])
    const engine = cuda.copyEngine()
    await engine.copy(dma(new ArrayBuffer(8)), 0, engine.alloc(8), 0, 8)
    new Uint32Array(flag.buffer)[0] = 1
  })

  test('registers an ArrayBuffer once for all of its parts, and pinned memory not at all', async () => {
    const region = native.allocate(16384, 4096)
    const [engine, other] = [open().copyEngine(), cuda.copyEngine()]
    const to = engine.alloc(4096)
    const part = dma(region.buffer, 4096, 4096)
    await engine.copy(part, 0, to, 0, 4096)
    await other.copy(dma(region.buffer, 100, 5000), 0, to, 0, 4096)
    await other.copy(dma(cuda.allocPinned(4096).buffer), 0, to, 0, 4096)
    expect(standin.live().registered).toBe(1)
    engine.forget(part)
    expect(standin.live().registered).toBe(0)
    await other.copy(part, 0, to, 0, 4096)
    expect(standin.live().registered).toBe(1)
    other.forget(part)
    region.unmap()
  })

  test('drops the registration of unmapped memory when it registers other memory', async () => {
    const engine = open().copyEngine()
    const to = engine.alloc(4096)
    for (let turn = 0; turn < 3; turn++) {
      const region = native.allocate(4096, 4096)
      await engine.copy(dma(region.buffer), 0, to, 0, 4096)
      expect(standin.live().registered).toBe(1)
      region.unmap()
    }
  })

  test('copies from memory that is partly registered elsewhere: registers the rest, or uses pinned memory', async () => {
    const region = native.allocate(16384, 4096)
    const bytes = new Uint8Array(region.buffer).fill(3)
    const queues = open().register(region.address, 4096)
    const engine = cuda.copyEngine()
    const to = engine.alloc(8192)
    await engine.copy(dma(region.buffer, 8192), 0, to, 0, 8192)
    expect(standin.live().registered).toBe(2)
    bytes[4095] = 4
    await engine.copy(dma(region.buffer, 0, 8192), 4094, to, 0, 3)
    await engine.copy(dma(region.buffer, 0, 8192), 4094, to, 0, 3)
    expect(standin.live()).toMatchObject({ registered: 2, pinned: 0 })
    expect([...(await to.read(0, 4))]).toEqual([3, 4, 3, 3])
    engine.forget(dma(region.buffer))
    queues.unregister()
    region.unmap()
  })

  test('copies a range that spans several registrations, each part by itself', async () => {
    const region = native.allocate(32768, 4096)
    const bytes = new Uint8Array(region.buffer)
    bytes.forEach((_, at) => (bytes[at] = (at * 7) ^ (at >>> 8)))
    // Prevents registration as a whole.
    const queues = open().register(region.address, 4096)
    const engine = cuda.copyEngine()
    const to = engine.alloc(32768)
    const expected = new Uint8Array(32768)
    const copyPart = async (from: number, lengthBytes: number) => {
      await engine.copy(dma(region.buffer, from, lengthBytes), 0, to, from, lengthBytes)
      expected.set(bytes.subarray(from, from + lengthBytes), from)
    }
    await copyPart(8192, 4096)
    await copyPart(20480, 4096)
    expect(standin.live().registered).toBe(3)
    // From before the first of them to after the second.
    await copyPart(4096, 24576)
    expect(standin.live().registered).toBe(6)
    // Including the first page, which the engine does not know to be registered.
    await copyPart(0, 32768)
    expect(Buffer.compare(await to.read(), expected)).toBe(0)
    expect(standin.live()).toMatchObject({ registered: 7, pinned: 0 })
    engine.forget(dma(region.buffer))
    queues.unregister()
    region.unmap()
  })

  test('rejects a copy with a failed part after its earlier parts have ended', async () => {
    // Call 1 is the earlier copy, call 2 the first part of this one.
    standin.fail('cuMemcpyHtoDAsync_v2=1@3')
    const region = native.allocate(16384, 4096)
    const queues = open().register(region.address, 4096)
    const engine = cuda.copyEngine()
    const to = engine.alloc(12288)
    await engine.copy(dma(region.buffer, 8192, 4096), 0, to, 0, 4096)
    await expect(engine.copy(dma(region.buffer, 4096, 12288), 0, to, 0, 12288)).rejects.toThrow(CudaCallError)
    expect(standin.copies()).toEqual({ started: 2, done: 2 })
    engine.forget(dma(region.buffer))
    to.free()
    queues.unregister()
    region.unmap()
  })

  test('times out a copy that does not end, and keeps its memory', async () => {
    const engine = open().copyEngine({ timeoutNs: 1e6 })
    const to = engine.alloc(8)
    standin.holdCopies(true)
    await expect(engine.copy(dma(new ArrayBuffer(8)), 0, to, 0, 8)).rejects.toThrow(
      /^Copying 8 bytes to GPU memory did not end within 0.001 s/,
    )
    await expect(engine.copy(dma(new ArrayBuffer(8)), 0, to, 0, 8)).rejects.toBeInstanceOf(CudaTimeoutError)
    expect(() => to.free()).toThrow(/2 copies in progress/)
    await expect(cuda.close({ timeoutNs: 1e6 })).rejects.toBeInstanceOf(CudaTimeoutError)
    expect(standin.live().device).toBe(1)
  })

  test('rejects ranges outside the memory, and memory that the host cannot access', async () => {
    const engine = open().copyEngine()
    const [from, to] = [dma(new ArrayBuffer(16)), engine.alloc(8)]
    await expect(engine.copy(from, 9, to, 0, 8)).rejects.toThrow(
      new RangeError('fromBytes: expected an integer from 0 to 8, got 9'),
    )
    await expect(engine.copy(from, 0, to, 1, 8)).rejects.toThrow(
      new RangeError('toBytes: expected an integer from 0 to 0, got 1'),
    )
    await expect(engine.copy(from, 0, to, 0, 1.5)).rejects.toThrow(RangeError)
    const unseen = { ...from }
    Reflect.deleteProperty(unseen, 'view')
    await expect(engine.copy(unseen, 0, to, 0, 1)).rejects.toThrow(
      new TypeError('from: expected memory with a view, got memory that the host cannot access'),
    )
    expect(standin.copies().started).toBe(0)
  })
})
