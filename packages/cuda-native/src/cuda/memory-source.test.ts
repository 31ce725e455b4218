import { afterEach, describe, expect, test } from 'vitest'
import { hasStandin, NOTHING, skippedWithoutStandin, useStandin } from '../../test/standin/standin.js'
import { CudaCallError, CudaMemorySource, CudaTimeoutError, openCuda, type Cuda } from './index.js'

const standin = useStandin()
let cuda: Cuda
const open = () => (cuda = openCuda())

describe.skipIf(!hasStandin)(`GPU memory of CUDA for a controller${skippedWithoutStandin}`, () => {
  afterEach(async () => {
    standin.holdCopies(false)
    await cuda.close()
    expect(standin.live()).toEqual(NOTHING)
  })

  test('bytes are set, written and read at addresses of kernels, also more than go at a time', () => {
    const source = new CudaMemorySource(open())
    const memory = source.alloc(200_000)
    source.fill(memory.gpuPointer, 200_000, 0xff)
    const bytes = Uint8Array.from({ length: 150_000 }, (_, index) => (index * 7) ^ (index >>> 8))
    source.write(memory.gpuPointer + 1000n, bytes)
    source.fill(memory.gpuPointer + 151_000n, 10, 3)
    const all = source.read(memory.gpuPointer, 200_000)
    expect(all.subarray(0, 1000).every((byte) => byte === 255)).toBe(true)
    expect(Buffer.compare(all.subarray(1000, 151_000), bytes)).toBe(0)
    expect([...all.subarray(150_999, 151_012)]).toEqual([bytes[149_999], 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 255, 255])
    memory.free()
    expect(() => source.fill(memory.gpuPointer, 1, 0)).toThrow(RangeError)
    source.close()
    expect(standin.live()).toMatchObject({ device: 0, pinned: 0 })
  })

  test('it is done when it returns while a kernel runs that does not end, and with nothing new allocated', () => {
    const source = new CudaMemorySource(open())
    const memory = source.alloc(4096)
    const flag = cuda.allocPinned(4)
    cuda.loadKernels(standin.ptx)
    cuda.launch('standin_wait', 1, 1, [flag.gpuPointer])
    const before = standin.live()
    source.fill(memory.gpuPointer, 4096, 9)
    const into = new Uint8Array(4096)
    source.copyOut(memory.gpuPointer, into)
    expect(into.every((byte) => byte === 9)).toBe(true)
    expect(standin.live()).toEqual(before)
    new Uint32Array(flag.buffer)[0] = 1
  })

  test('what does not end in time is a timeout; nothing else is begun before it has, and its memory stays', async () => {
    const source = new CudaMemorySource(open(), { timeoutNs: 1e8 })
    const memory = source.alloc(4096)
    source.fill(memory.gpuPointer, 4096, 1)
    standin.holdCopies(true)
    expect(() => source.read(memory.gpuPointer, 8)).toThrow(CudaTimeoutError)
    expect(() => source.fill(memory.gpuPointer, 8, 2)).toThrow(
      /^Filling 8 bytes of GPU memory did not end within 0.1 s/,
    )
    expect(standin.copies().started).toBe(1)
    expect(() => memory.free()).toThrow(TypeError)
    standin.holdCopies(false)
    while (standin.copies().done < 1) await new Promise(setImmediate)
    expect([...source.read(memory.gpuPointer, 2)]).toEqual([1, 1])
  })

  test.each(['cuMemsetD8Async', 'cuStreamQuery'])('where %s fails, nobody takes it for done', (name) => {
    standin.fail(`${name}=999@1`)
    const source = new CudaMemorySource(open())
    const memory = source.alloc(4096)
    expect(() => source.fill(memory.gpuPointer, 4096, 1)).toThrow(CudaCallError)
    expect(standin.failed()).toBe(1)
    source.fill(memory.gpuPointer, 4096, 1)
    memory.free()
  })

  test('outside of what was allocated is a RangeError, and there is no memory left in an error', () => {
    const source = new CudaMemorySource(open())
    const memory = source.alloc(4096)
    expect(() => source.fill(memory.gpuPointer, 4097, 0)).toThrow(RangeError)
    expect(() => source.read(memory.gpuPointer - 1n, 1)).toThrow(
      /^gpuPointer: expected memory allocated by this source/,
    )
    expect(() => source.alloc(2 ** 31)).toThrow(CudaCallError)
  })

  test('without pinned memory there is none, and nothing is kept', () => {
    standin.fail('cuMemHostAlloc=2@1')
    expect(() => new CudaMemorySource(open())).toThrow(CudaCallError)
    expect(standin.live()).toMatchObject({ pinned: 0, streams: 1 })
  })
})
