import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openDrive, openQueues } from '../../test/device-rig.js'
import { BUILD_MS, program } from '../../test/programs/program.js'
import { hasStandin, skippedWithoutStandin, useStandin } from '../../test/standin/standin.js'
import type { DeviceArrayOptions } from '../cuda/index.js'

const standin = useStandin()
let library: string

/** The parameters of examples/array_sum.cu, for the stand-in. */
const PTX = new TextEncoder().encode(`.version 8.2
.target sm_75
.address_size 64
.visible .entry sum_pages(.param .align 8 .b8 p0[128], .param .u64 p1) { ret; }
`)

/** Opens a simulated drive of 256 blocks of 512 bytes, and an array on it with a cache of `cacheBytes`. */
async function openArray(cacheBytes: number, options: Omit<DeviceArrayOptions, 'cache'>) {
  const { cuda, queues } = openQueues(standin)
  cuda.loadKernels(PTX)
  const drive = await openDrive(queues)
  const device = await queues.device([{ engine: drive.engine, namespace: drive.namespace }])
  const cache = drive.engine.buffer(drive.namespace.dma.alloc(cacheBytes))
  const make = (changes: Partial<DeviceArrayOptions> = {}) => device.array({ cache, ...options, ...changes })
  return { cuda, make, drive, cache }
}

/** Sum of the 64-bit words of bytes, modulo 2^64. */
function sumOf(bytes: Uint8Array): bigint {
  const words = new BigUint64Array(bytes.slice().buffer)
  return BigInt.asUintN(
    64,
    words.reduce((sum, word) => sum + word, 0n),
  )
}

describe.skipIf(!hasStandin)(`an array of kernels${skippedWithoutStandin}`, () => {
  beforeAll(async () => {
    library = (await program('standin/array')).path
  }, BUILD_MS)
  beforeEach(() => {
    process.env['GPUNVME_CUDA_LIBRARY'] = library
  })

  test('is read by 8 warps through a cache of 8 pages, and counts hits, misses and evictions', async () => {
    const { cuda, make, drive } = await openArray(8 * 2048, { pageBytes: 2048, firstBlock: 3, lengthBytes: 40_000 })
    const array = make()
    expect(array.slots).toBe(8)
    const sum = cuda.allocPinned(16)
    const stream = cuda.stream()
    const expected = sumOf(drive.content.subarray(3 * 512, 3 * 512 + 40_000))
    for (let round = 1; round <= 2; round++) {
      new BigUint64Array(sum.buffer).fill(0n)
      cuda.launch('sum_pages', 2, 128, [array.argument, sum.gpuPointer], stream)
      await stream.finished()
      const [total, failures] = new BigUint64Array(sum.buffer)
      expect([total, failures]).toEqual([expected, 0n])
      // 20 pages, of which the last 8 may still be in the cache.
      const { hits, misses, evictions, busy } = array.statistics()
      expect(hits + misses).toBe(20 * round)
      expect(evictions).toBe(misses - 8)
      expect(busy).toBe(0)
    }
    array.clear()
    expect(array.statistics()).toEqual({ hits: 0, misses: 0, coalesced: 0, evictions: 0, busy: 0 })
    array.free()
  })

  test('has the whole namespace and 16 ways by default', async () => {
    const { make } = await openArray(64 * 1024, { pageBytes: 1024 })
    const array = make()
    const words = new DataView(array.argument.buffer)
    expect(array.slots).toBe(64)
    // bytes, set_shift and ways of gnv_array.
    expect([words.getBigUint64(48, true), words.getUint32(120, true), words.getUint32(124, true)]).toEqual([
      BigInt(256 * 512),
      2,
      16,
    ])
    array.free()
  })

  test('rejects invalid arguments with the expected values', async () => {
    const { make, drive, cache } = await openArray(4096, { pageBytes: 1024 })
    const wrong: readonly [Record<string, unknown>, string][] = [
      [{ cache: {} }, 'cache: expected a buffer that the GPU can access, from engine.buffer(), got Object'],
      [{ drive: 1 }, "drive: expected the index of one of the device's 1 drives, got 1"],
      [{ firstBlock: 256 }, 'firstBlock: expected a block of the namespace, below 256, got 256'],
      [{ firstBlock: -1 }, 'firstBlock: expected a whole number of 0 or more, got -1'],
      [{ firstBlock: 255, lengthBytes: 513 }, 'lengthBytes: expected at most 512 from block 255 on, got 513'],
      [{ pageBytes: 1536 }, 'pageBytes: expected a power of two from 512 to '],
      [{ pageBytes: 256 }, 'pageBytes: expected a power of two from 512 to '],
      [{ pageBytes: 8192 }, 'cache: expected memory for a page of 8192 bytes, got 4096'],
      [{ ways: 5 }, 'ways: expected at most 4, the pages that fit into the cache, got 5'],
      [{ page: 1 }, "array: unknown 'page'; known are cache, drive, firstBlock, lengthBytes, pageBytes, ways"],
    ]
    for (const [changes, message] of wrong) expect(() => make(changes)).toThrow(message)
    expect(cache.lengthBytes).toBe(4096)
    await drive.controller.close()
  })
})
