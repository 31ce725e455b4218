import { Controller } from '@gpunvme/host-driver'
import { simulate } from '@gpunvme/nvme-sim'
import type { Transport } from '@gpunvme/nvme-spec/transport'
import { describe, expect, test } from 'vitest'
import { hasStandin, NOTHING, skippedWithoutStandin, useStandin } from '../../test/standin/standin.js'
import { isBuilt } from '../../test/native.js'
import { startDrive } from '../../test/real-time-drives.js'
import { cudaEngine, CudaBusyError, CudaMemorySource, openCuda, readThrough, type Cuda } from '../cuda/index.js'
import { negotiateTier, type TierRequest } from '../vram/index.js'
import * as entry from '../index.js'
import { cpuKernelEngine, EngineUnsuitableError, NativeAddonError, type KernelEngineOptions } from '../index.js'

const standin = useStandin()
const bad = (value: unknown) => value as never

/** Returns a transport like that of a device with mapped registers, which these tests never access. */
function suitable(): Transport {
  const { transport } = simulate()
  const { bar } = transport
  const window = { address: 4096n, lengthBytes: 4096 }
  const seen = { lengthBytes: bar.lengthBytes, read32: bar.read32.bind(bar), read64: bar.read64.bind(bar), window }
  return { ...transport, bar: { ...seen, write32: bar.write32.bind(bar), write64: bar.write64.bind(bar) } }
}

test('the entry point exports NativeAddonError, and no class that assembles engines', () => {
  expect(NativeAddonError.name).toBe('NativeAddonError')
  expect(Object.keys(entry).sort()).toEqual([
    'EngineUnsuitableError',
    'NativeAddonError',
    'cpuKernelEngine',
    'cudaStatus',
  ])
})

describe('rejects invalid arguments of engines by name', () => {
  test.each([
    [undefined, 'undefined'],
    [null, 'null'],
    ['sim', "'sim'"],
    [{}, 'Object'],
    [simulate(), 'an object with a transport: pass its .transport'],
  ])('transport %s', (transport, got) => {
    const expected = new TypeError(`transport: expected a Transport, got ${got}`)
    expect(() => cpuKernelEngine(bad(transport))).toThrow(expected)
    expect(() => cudaEngine(bad(transport), bad(undefined))).toThrow(expected)
  })

  test.each<[unknown, Error]>([
    [null, new TypeError('cpuKernelEngine: expected an object of options, got null')],
    [{ linger: 1 }, new TypeError("cpuKernelEngine: unknown 'linger'; known are lingerNs, clock, stallTicks")],
    [
      { lingerNs: NaN },
      new RangeError('lingerNs: expected nanoseconds as a whole number of 0 or more, or Infinity, got NaN'),
    ],
    [{ clock: 4096n }, new TypeError('clock: expected a BigUint64Array with at least one element, got 4096n')],
    [
      { clock: new BigUint64Array(0) },
      new TypeError('clock: expected a BigUint64Array with at least one element, got BigUint64Array'),
    ],
  ])('options %s', (options, expected) => {
    expect(() => cpuKernelEngine(suitable(), options as KernelEngineOptions)).toThrow(expected)
  })

  test.each<[unknown, string]>([
    [undefined, 'undefined'],
    [{}, 'Object'],
  ])('cuda %s', (cuda, got) => {
    const expected = new TypeError(`cuda: expected an open GPU from openCuda(), got ${got}`)
    expect(() => cudaEngine(suitable(), bad(cuda))).toThrow(expected)
    expect(() => new CudaMemorySource(bad(cuda))).toThrow(expected)
  })

  test('rejects a transport whose registers are not memory before it validates the GPU', () => {
    expect(() => cudaEngine(simulate().transport, bad(undefined))).toThrow(EngineUnsuitableError)
  })
})

describe('rejects invalid requests by name', () => {
  test.each<[unknown, Error]>([
    [undefined, new TypeError('negotiateTier: expected an object of options, got undefined')],
    [{}, new RangeError('maxTier: expected 1, 2 or 3, got undefined')],
    [{ maxTier: 7 }, new RangeError('maxTier: expected 1, 2 or 3, got 7')],
    [{ maxTier: 2 }, new TypeError('can: expected an object, got undefined')],
    [
      { maxTier: 2, can: {}, providers: [{}] },
      new TypeError('providers[0]: expected an object with open(), got Object'),
    ],
  ])('negotiateTier %s', async (request, expected) => {
    await expect(negotiateTier(request as TierRequest)).rejects.toThrow(expected)
  })

  test.each<[unknown, Error]>([
    [null, new TypeError('readThrough: expected an object of options, got null')],
    [{}, new TypeError('slots: expected an array of memory, got undefined')],
    [{ slots: [{}] }, new TypeError('copies: expected a CopyEngine, such as cuda.copyEngine(), got undefined')],
    [{ lengthBytes: NaN }, new RangeError('lengthBytes: expected a whole number of bytes, 0 or more, got NaN')],
  ])('readThrough %s', async (options, expected) => {
    await expect(readThrough(bad(options))).rejects.toThrow(expected)
  })
})

describe.skipIf(!hasStandin || !isBuilt)(`a GPU${skippedWithoutStandin}`, () => {
  test.each([NaN, 'x', -1, 0.5, Infinity, null])(
    'rejects a timeoutNs of %s with RangeError, and stays usable',
    async (timeoutNs) => {
      const cuda = openCuda()
      const expected = /^timeoutNs: expected nanoseconds as a whole number of 0 or more, got /
      const options = { timeoutNs: bad(timeoutNs) }
      await expect(cuda.close(options)).rejects.toThrow(expected)
      await expect(cuda.close(options)).rejects.toThrow(RangeError)
      expect(() => cuda.copyEngine(options)).toThrow(expected)
      expect(() => new CudaMemorySource(cuda, options)).toThrow(expected)
      cuda.allocDevice(4096).free()
      await cuda.close()
      expect(standin.live()).toEqual(NOTHING)
    },
  )

  test('is rejected by engines and memory sources after it was closed', async () => {
    const cuda = openCuda()
    await cuda.close()
    const expected = /^cuda: expected an open GPU .* got a closed one$/
    expect(() => cudaEngine(suitable(), cuda)).toThrow(expected)
    expect(() => new CudaMemorySource(cuda)).toThrow(expected)
  })

  test('cannot be closed while an engine has queues on it, only after its controller was closed', async () => {
    const { simulator, close } = await startDrive({})
    const { transport } = simulator
    const cuda: Cuda = openCuda()
    const controller = await Controller.open(transport, { engine: cudaEngine(transport, cuda) })
    // An engine without queues does not prevent it.
    cudaEngine(transport, cuda)
    const refused = cuda.close()
    await expect(refused).rejects.toBeInstanceOf(CudaBusyError)
    await expect(refused).rejects.toMatchObject({ code: 'ERR_GPUNVME_CUDA_BUSY', category: 'usage', engines: 1 })
    await expect(refused).rejects.toThrow(
      'The GPU cannot be closed: 1 engine has queues on it\n  Try: close its controller first',
    )
    await controller.namespace(1).readBytes(0, 4096)
    await controller.close()
    await cuda.close()
    expect(standin.live()).toEqual(NOTHING)
    await close()
  })
})
