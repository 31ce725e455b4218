import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from 'vitest'
import { openCuda, type Cuda } from './index.js'
import { hasStandin, NOTHING, skippedWithoutStandin, useStandin } from '../../test/standin/standin.js'

const standin = useStandin()
let cuda: Cuda

function open(): Cuda {
  cuda = openCuda()
  cuda.loadKernels(readFileSync(join(import.meta.dirname, '../../cuda/kernels.ptx')))
  return cuda
}

describe.skipIf(!hasStandin)(
  `the package's kernels, launched with their PTX's parameters${skippedWithoutStandin}`,
  () => {
    afterEach(async () => {
      await cuda.close()
      expect(standin.live()).toEqual(NOTHING)
    })

    test('gpunvme_checksum computes CRC-32: cbf43926 for 123456789', async () => {
      const data = open().allocPinned(64)
      new Uint8Array(data.buffer).set(new TextEncoder().encode('123456789123456789'))
      const stream = cuda.stream()
      const at = (offset: bigint) => data.gpuPointer + offset
      cuda.launch('gpunvme_checksum', 2, 256, [at(0n), 18n, 9n, at(32n), 0n, 0n, 0n], stream)
      await stream.finished()
      expect([...new Uint32Array(data.buffer, 32, 2)]).toEqual([0xcbf43926, 0xcbf43926])
    })

    test('gpunvme_scatter moves pieces, and gpunvme_pattern_verify counts the changed bytes', async () => {
      const memory = open().allocPinned(4096)
      const bytes = new Uint8Array(memory.buffer)
      const stream = cuda.stream()
      const at = (offset: bigint) => memory.gpuPointer + offset
      cuda.launch('gpunvme_pattern_fill', 2, 256, [at(0n), 1024n, 5n, 0n], stream)
      await stream.finished()
      const before = bytes.slice(0, 1024)
      // 3 bytes from 2000 to 100: source offset, destination offset, bytes, bytes of those before.
      for (let i = 0; i < 3; i++) bytes[2000 + i] = before[100 + i]! ^ 0xff
      new BigUint64Array(memory.buffer, 3072, 4).set([2000n, 100n, 3n, 0n])
      new BigUint64Array(memory.buffer, 3200, 2).set([0n, 0xffff_ffff_ffff_ffffn])
      cuda.launch('gpunvme_scatter', 1, 256, [at(0n), at(0n), at(3072n), 1n], stream)
      cuda.launch('gpunvme_pattern_verify', 2, 256, [at(0n), 1024n, 5n, 0n, at(3200n)], stream)
      await stream.finished()
      expect([...bytes.subarray(99, 104)]).toEqual([
        before[99],
        ...[100, 101, 102].map((index) => before[index]! ^ 0xff),
        before[103],
      ])
      expect([...new BigUint64Array(memory.buffer, 3200, 2)]).toEqual([3n, 100n])
    })
  },
)
