import { Worker } from 'node:worker_threads'
import { afterEach, describe, expect, test } from 'vitest'
import { addonPlaces } from '../native-addon.js'
import { CudaCallError, CudaTimeoutError, openCuda, type Cuda } from './index.js'
import { hasStandin, NOTHING, skippedWithoutStandin, useStandin } from '../../test/standin/standin.js'
import { native } from '../../test/native.js'

const standin = useStandin()
let cuda: Cuda
const open = () => (cuda = openCuda())

describe.skipIf(!hasStandin)(`an open GPU${skippedWithoutStandin}`, () => {
  afterEach(async () => {
    await cuda.close()
    expect(standin.live()).toEqual(NOTHING)
  })

  test('pinned memory has a host and a GPU address for the same bytes, until it is freed', async () => {
    const memory = open().allocPinned(8192)
    expect(memory.gpuPointer).not.toBe(memory.address)
    expect(memory.buffer.byteLength).toBe(8192)
    const words = new Uint32Array(memory.buffer)
    words[0] = 5
    cuda.loadKernels(standin.ptx)
    cuda.launch('standin_add', [2, 1, 1], 3, [memory.gpuPointer, 7])
    const stream = cuda.stream()
    await stream.finished()
    await cuda.close().catch(() => undefined)
    expect(memory.buffer.byteLength).toBe(0)
  })

  test('kernels run for each thread of the grid, in stream order, and accept structures', async () => {
    const memory = open().allocPinned(4096)
    const words = new Uint32Array(memory.buffer)
    cuda.loadKernels(standin.ptx)
    const stream = cuda.stream()
    cuda.launch('standin_add', [2, 1, 1], 3, [memory.gpuPointer, 7], stream)
    cuda.launch('standin_add', 1, [1, 1, 1], [memory.gpuPointer + 4n, 0xffff_ffff], stream)
    const given = new Uint8Array(24)
    new DataView(given.buffer).setBigUint64(0, memory.gpuPointer + 16n, true)
    given.fill(0x11, 8)
    cuda.launch('standin_struct', 1, 1, [given], stream)
    given.fill(0)
    await stream.finished()
    expect([...words.subarray(0, 8)]).toEqual([42, 0xffff_ffff, 0, 0, ...Array<number>(4).fill(0x11111111)])
    stream.close()
    expect(() => cuda.launch('standin_wait', 1, 1, [memory.gpuPointer], stream)).toThrow(TypeError)
  })

  test('kernel arguments of wrong number or size are rejected before the driver reads them', () => {
    open().loadKernels(standin.ptx)
    const launch = (args: (number | bigint | Uint8Array)[]) => () => cuda.launch('standin_add', 1, 1, args)
    expect(launch([1n])).toThrow(new TypeError('args: expected 2 arguments for standin_add, got 1'))
    expect(launch([1, 1])).toThrow(new TypeError('args[0]: expected 8 bytes for standin_add, got 4'))
    expect(launch([1n, new Uint8Array(3)])).toThrow(new TypeError('args[1]: expected 4 bytes for standin_add, got 3'))
    expect(launch([1n, -1])).toThrow(new RangeError('args[1]: expected an integer from 0 to 4294967295, got -1'))
    expect(() => cuda.launch('nothing', 1, 1, [])).toThrow(
      new TypeError(
        'name: expected one of standin_add, standin_wait, standin_struct, standin_read_blocks, got nothing',
      ),
    )
    expect(() => cuda.launch('standin_add', 0, 1, [1n, 1])).toThrow(/^grid: expected an integer from 1 to/)
    expect(() => cuda.launch('standin_add', 1, [256, 2, 1], [1n, 1])).toThrow(
      new RangeError('block: expected at most 256 threads, got 512'),
    )
  })

  test('invalid PTX is rejected with the log of the compiler', () => {
    open()
    let error: unknown
    try {
      cuda.loadKernels(new TextEncoder().encode('nonsense'))
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(CudaCallError)
    expect((error as Error).message.split('\n')).toEqual([
      'Loading kernels failed: CUDA_ERROR_INVALID_PTX (not PTX)',
      '  cuModuleLoadDataEx returned 218',
      '  line 1: expected .version',
    ])
  })

  test('GPU memory is filled and read in parts; ranges outside it are rejected with a RangeError', async () => {
    const memory = open().allocDevice(64)
    await memory.fill(0xa5)
    await memory.fill(0x11, 60)
    expect([...(await memory.read(58))]).toEqual([0xa5, 0xa5, 0x11, 0x11, 0x11, 0x11])
    expect(await memory.read(64)).toEqual(new Uint8Array(0))
    await expect(memory.read(0, 65)).rejects.toThrow(
      new RangeError('lengthBytes: expected an integer from 0 to 64, got 65'),
    )
    await expect(memory.fill(256)).rejects.toThrow(RangeError)
    await expect(memory.fill(0, -1, 1)).rejects.toThrow(RangeError)
    expect(standin.live().pinned).toBe(0)
  })

  test('freed resources cannot be used or freed again', async () => {
    open()
    const device = cuda.allocDevice(4096)
    const pinned = cuda.allocPinned(4096)
    const region = native.allocate(4096, 4096)
    const registration = cuda.register(region.address, 4096)
    const stream = cuda.stream()
    expect(standin.live()).toMatchObject({ device: 1, pinned: 1, registered: 1, streams: 2 })
    device.free()
    pinned.free()
    registration.unregister()
    stream.close()
    expect(standin.live()).toMatchObject({ device: 0, pinned: 0, registered: 0, streams: 1 })
    expect(pinned.buffer.byteLength).toBe(0)
    for (const again of [
      () => device.free(),
      () => pinned.free(),
      () => registration.unregister(),
      () => stream.close(),
    ]) {
      expect(again).toThrow(TypeError)
    }
    await expect(device.fill(0)).rejects.toThrow(TypeError)
    await expect(stream.finished()).rejects.toThrow(TypeError)
    region.unmap()
  })

  test('process memory is registered by address or by view, and the GPU stores to the same bytes', async () => {
    const region = native.allocate(8192, 4096)
    const words = new Uint32Array(region.buffer)
    const registration = open().register(new Uint8Array(region.buffer, 4096))
    expect(registration).toMatchObject({ address: region.address + 4096n, lengthBytes: 4096 })
    expect(registration.gpuPointer).not.toBe(registration.address)
    cuda.loadKernels(standin.ptx)
    cuda.launch('standin_add', 1, 1, [registration.gpuPointer, 9])
    await cuda.allocDevice(1).fill(0)
    expect(words[1024]).toBe(9)
    expect(() => cuda.register(region.address + 4096n, 4096)).toThrow(
      /CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED[^]*Try: unregister\(\)/,
    )
    expect(() => cuda.register(words, 8193)).toThrow(RangeError)
    registration.unregister()
    region.unmap()
  })

  test('the error of an allocation beyond the available memory names CUDA_ERROR_OUT_OF_MEMORY and a next step', () => {
    open()
    for (const alloc of [() => cuda.allocDevice(2 ** 31), () => cuda.allocPinned(2 ** 31)]) {
      expect(alloc).toThrow(/CUDA_ERROR_OUT_OF_MEMORY \(no memory left\)[^]*Try: allocate less/)
    }
    expect(() => cuda.allocDevice(0)).toThrow(RangeError)
  })

  test('waits do not block the event loop and end at their timeout; close waits for the work', async () => {
    const memory = open().allocPinned(4)
    cuda.loadKernels(standin.ptx)
    const stream = cuda.stream()
    cuda.launch('standin_wait', 1, 1, [memory.gpuPointer], stream)
    await expect(stream.finished(1000)).rejects.toThrow(CudaTimeoutError)
    expect(() => stream.close()).toThrow(/^stream: expected an idle stream/)
    await expect(cuda.close({ timeoutNs: 1e6 })).rejects.toThrow(CudaTimeoutError)
    // The GPU is still open, and its memory is allocated.
    expect(standin.live()).toMatchObject({ contexts: 1, pinned: 1, streams: 2 })
    const ended = stream.finished()
    const closed = cuda.close()
    let turns = 0
    while (turns < 10) await new Promise((done) => setImmediate(() => done(turns++)))
    Atomics.store(new Uint32Array(memory.buffer), 0, 1)
    await Promise.all([ended, closed])
    expect(memory.buffer.byteLength).toBe(0)
  })

  test('close releases all resources, which cannot be used afterwards', async () => {
    open().loadKernels(standin.ptx)
    const region = native.allocate(4096, 4096)
    const [pinned, device, stream] = [cuda.allocPinned(1), cuda.allocDevice(1), cuda.stream()]
    const registration = cuda.register(region.address, 4096)
    const waits = [stream.finished(), stream.finished()]
    expect(standin.live()).toMatchObject({ contexts: 1, modules: 1, streams: 2, device: 1, pinned: 1, registered: 1 })
    const closed = cuda.close()
    expect(cuda.close()).toBe(closed)
    await closed
    await Promise.all(waits)
    expect(standin.live()).toEqual(NOTHING)
    for (const use of [
      () => pinned.free(),
      () => device.free(),
      () => registration.unregister(),
      () => stream.close(),
      () => cuda.allocDevice(1),
      () => cuda.stream(),
      () => cuda.launch('standin_add', 1, 1, [0n, 0]),
    ]) {
      expect(use).toThrow(TypeError)
    }
    expect(pinned.buffer.byteLength).toBe(0)
    region.unmap()
  })

  test('all openings of a GPU share a context, which is released with the last one', async () => {
    open()
    const other = openCuda()
    await expect(other.copyEngine().copy(fakeDma(), 0, cuda.allocDevice(8), 0, 8)).rejects.toThrow(
      new TypeError('to: expected memory of the same GPU, got other memory'),
    )
    cuda.loadKernels(standin.ptx)
    const stream = other.stream()
    expect(() => cuda.launch('standin_add', 1, 1, [0n, 0], stream)).toThrow(TypeError)
    expect(standin.live().contexts).toBe(1)
    await other.close()
    expect(standin.live().contexts).toBe(1)
    cuda.allocDevice(1).free()
  })

  test('a thread that ends releases its own resources, and keeps those of other threads', async () => {
    open()
    const before = standin.live()
    const script = `
      const { parentPort, workerData } = require('node:worker_threads')
      const addon = require(workerData.addon)
      addon.errors(Error)
      const cuda = addon.open(workerData.library, 0)
      const stream = addon.createStream(cuda)
      addon.allocPinned(cuda, 4096); addon.allocDevice(cuda, 4096); addon.buffer(addon.allocPinned(cuda, 16))
      addon.finished(stream, 1e12)
    `
    const addon = addonPlaces('gpunvme_cuda').find((path) => path.includes('build')) ?? addonPlaces('gpunvme_cuda')[1]!
    const workerData = { addon, library: process.env['GPUNVME_CUDA_LIBRARY'] }
    await new Promise((done) => new Worker(script, { eval: true, workerData }).on('exit', done))
    expect(standin.live()).toEqual(before)
  })

  test('GPU memory is exported as a descriptor, or rejected with the failed operation', async () => {
    const { closeSync, fstatSync } = await import('node:fs')
    const memory = open().allocDevice(4096)
    const fd = cuda.exportDmaBuf(memory.gpuPointer, 4096)
    expect(fstatSync(fd).isFile()).toBe(true)
    closeSync(fd)
    expect(() => cuda.exportDmaBuf(memory.gpuPointer, 8192)).toThrow(/^Exporting 8192 bytes of GPU memory as dma-buf/)
  })
})

function fakeDma() {
  const view = new DataView(new ArrayBuffer(8))
  return {
    ...{ view, lengthBytes: 8, segments: [] },
    ...{ iovaAt: () => 0, forDevice: () => undefined, forHost: () => undefined, free: () => undefined },
  }
}
