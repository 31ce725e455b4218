import { crc32 } from 'node:zlib'
import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { afterEach, describe, expect, test } from 'vitest'
import { someBytes } from '../../test/device/bytes.js'
import { hasStandin, NOTHING, skippedWithoutStandin, useStandin } from '../../test/standin/standin.js'
import { CudaCallError, cudaChecksummer, CudaChecksummer, CudaTimeoutError, openCuda, type Cuda } from './index.js'

const standin = useStandin()
let cuda: Cuda

/** Returns GPU memory with these bytes; pinned memory of the stand-in serves as GPU memory. */
function gpuMemory(content: Uint8Array): DmaMemory {
  const pinned = cuda.allocPinned(content.length)
  new Uint8Array(pinned.buffer).set(content)
  return {
    ...{ lengthBytes: content.length, gpuPointer: pinned.gpuPointer, segments: [], iovaAt: () => 0 },
    ...{ forDevice: () => undefined, forHost: () => undefined, free: () => pinned.free() },
  }
}

describe.skipIf(!hasStandin)(`CUDA checksums${skippedWithoutStandin}`, () => {
  afterEach(async () => {
    await cuda.close()
    expect(standin.live()).toEqual(NOTHING)
  })

  test('equal those of zlib for any chunk size, also with more chunks than one launch computes', async () => {
    cuda = openCuda()
    const bytes = someBytes(50_001)
    const memory = gpuMemory(bytes)
    const checksummer = new CudaChecksummer(cuda, {}, 4)
    expect(checksummer.name).toBe('cuda')
    for (const [offset, length, chunk] of [
      [0, 50_001, 16_384],
      [7, 40_000, 4999],
      [5, 9, 1],
      [50_000, 1, 4096],
      [50_001, 0, 1],
    ] as const) {
      const before = standin.launched()
      const starts = Array.from({ length: Math.ceil(length / chunk) }, (_, index) => index * chunk)
      const into = new Uint32Array(starts.length + 1).fill(7)
      await checksummer.checksum(memory, offset, length, chunk, into)
      const expected = starts.map((at) => crc32(bytes.subarray(offset + at, offset + Math.min(at + chunk, length))))
      expect([...into]).toEqual([...expected, 7])
      expect(standin.launched() - before).toBe(Math.ceil(starts.length / 4))
    }
    checksummer.close()
    expect(standin.live()).toMatchObject({ streams: 1, pinned: 1 })
  }, 120_000)

  test('are computed by overlapping calls without mixing results, also after a rejected call', async () => {
    cuda = openCuda()
    const checksummer = cudaChecksummer(cuda)
    const contents = [1, 2, 3].map((seed) => someBytes(4000).subarray(seed))
    const into = contents.map(() => new Uint32Array(4))
    const calls = contents.map((bytes, index) =>
      checksummer.checksum(gpuMemory(bytes), 0, index === 1 ? 4001 : 3000, 1000, into[index]!),
    )
    await expect(calls[1]).rejects.toThrow(RangeError)
    await Promise.all([calls[0], calls[2]])
    for (const index of [0, 2]) {
      const expected = Array.from({ length: 3 }, (_, chunk) =>
        crc32(contents[index]!.subarray(chunk * 1000, chunk * 1000 + 1000)),
      )
      expect([...into[index]!]).toEqual([...expected, 0])
    }
  }, 120_000)

  test('reject host memory and invalid ranges, and are not launched by aborted calls', async () => {
    cuda = openCuda()
    const checksummer = cudaChecksummer(cuda)
    const memory = gpuMemory(new Uint8Array(100))
    const into = new Uint32Array(4)
    const { gpuPointer, ...elsewhere } = memory
    expect(gpuPointer).toBeDefined()
    await expect(checksummer.checksum(elsewhere, 0, 1, 1, into)).rejects.toThrow(
      new TypeError('memory: expected memory on a GPU, got host memory'),
    )
    await expect(checksummer.checksum(memory, 99, 2, 1, into)).rejects.toThrow(RangeError)
    await expect(checksummer.checksum(memory, 0, 5, 1, into)).rejects.toThrow(RangeError)
    await expect(checksummer.checksum(memory, 0, 5, 0, into)).rejects.toThrow(RangeError)
    const signal = AbortSignal.abort(new Error('not now'))
    await expect(checksummer.checksum(memory, 0, 1, 1, into, { signal })).rejects.toThrow('not now')
    expect(standin.launched()).toBe(0)
    expect(() => cudaChecksummer(cuda, { timeoutNs: -1 })).toThrow(RangeError)
  })

  test('time out if the GPU does not respond, and report a failed launch', async () => {
    cuda = openCuda()
    const checksummer = cudaChecksummer(cuda, { timeoutNs: 5e7 })
    const memory = gpuMemory(new Uint8Array(100))
    const into = new Uint32Array(1)
    standin.holdLaunch(1)
    await expect(checksummer.checksum(memory, 0, 100, 100, into)).rejects.toThrow(CudaTimeoutError)
    expect(() => checksummer.close()).toThrow(TypeError)
    standin.holdLaunch(0)
    await cuda.close()

    standin.fail('cuLaunchKernel=701@1')
    cuda = openCuda()
    const refused = cudaChecksummer(cuda).checksum(gpuMemory(new Uint8Array(100)), 0, 100, 100, into)
    await expect(refused).rejects.toThrow(CudaCallError)
  })

  test('need pinned memory; without it, construction throws and leaves nothing allocated', () => {
    standin.fail('cuMemHostAlloc=2@1')
    cuda = openCuda()
    expect(() => cudaChecksummer(cuda)).toThrow(CudaCallError)
    expect(standin.live()).toMatchObject({ pinned: 0, streams: 1 })
  })
})
