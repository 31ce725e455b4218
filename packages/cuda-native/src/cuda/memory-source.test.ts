import { afterEach, describe, expect, test } from 'vitest'
import { hasStandin, NOTHING, skippedWithoutStandin, useStandin } from '../../test/standin/standin.js'
import { CudaCallError, CudaMemorySource, CudaTimeoutError, openCuda, type Cuda } from './index.js'

const standin = useStandin()
let cuda: Cuda
const open = () => (cuda = openCuda())

describe.skipIf(!hasStandin)(`CudaMemorySource${skippedWithoutStandin}`, () => {
  afterEach(async () => {
    standin.holdCopies(false)
    await cuda.close()
    expect(standin.live()).toEqual(NOTHING)
  })

  test('fills, writes and reads bytes at GPU addresses, also more than the staging buffer holds', () => {
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

  test('completes operations beside a kernel that does not end, without new allocations', () => {
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

  test('times out an operation that does not end; starts no other before it ends, and keeps its memory', async () => {
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

  test.each(['cuMemsetD8Async', 'cuStreamQuery'])('throws if %s fails', (name) => {
    standin.fail(`${name}=999@1`)
    const source = new CudaMemorySource(open())
    const memory = source.alloc(4096)
    expect(() => source.fill(memory.gpuPointer, 4096, 1)).toThrow(CudaCallError)
    expect(standin.failed()).toBe(1)
    source.fill(memory.gpuPointer, 4096, 1)
    memory.free()
  })

  test('rejects ranges outside its allocations, and reports a failed allocation', () => {
    const source = new CudaMemorySource(open())
    const memory = source.alloc(4096)
    expect(() => source.fill(memory.gpuPointer, 4097, 0)).toThrow(RangeError)
    expect(() => source.read(memory.gpuPointer - 1n, 1)).toThrow(
      /^gpuPointer: expected memory allocated by this source/,
    )
    expect(() => source.alloc(2 ** 31)).toThrow(CudaCallError)
  })

  test('needs pinned memory; without it, construction throws and leaves nothing allocated', () => {
    standin.fail('cuMemHostAlloc=2@1')
    expect(() => new CudaMemorySource(open())).toThrow(CudaCallError)
    expect(standin.live()).toMatchObject({ pinned: 0, streams: 1 })
  })
})
