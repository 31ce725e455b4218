import { describe, expect, test } from 'vitest'
import { cudaStatus, CudaUnavailableError, openCuda, NativeAddonError } from './index.js'
import type { CudaAddon } from './addon.js'
import { decideOrdering } from '../vram/index.js'
import { findDriver, libraryPaths } from './driver.js'
import { built } from '../../test/programs/build.mjs'
import { skippedWithoutStandin, hasStandin, NOTHING, useStandin } from '../../test/standin/standin.js'

const standin = useStandin()

test('only GPUNVME_CUDA_LIBRARY is searched for the driver if it is set; otherwise the usual paths', () => {
  expect(libraryPaths({ GPUNVME_CUDA_LIBRARY: '/opt/libcuda.so' })).toEqual(['/opt/libcuda.so'])
  expect(libraryPaths({ GPUNVME_CUDA_LIBRARY: '' })[0]).toBe('libcuda.so.1')
  expect(libraryPaths({})).toEqual([
    'libcuda.so.1',
    '/usr/local/nvidia/lib64/libcuda.so.1',
    '/usr/lib/wsl/lib/libcuda.so.1',
    '/run/opengl-driver/lib/libcuda.so.1',
  ])
})

test('without the addon, the status lists the paths tried and the command that builds it', () => {
  const error = new NativeAddonError('gpunvme_cuda', [{ path: '/a/gpunvme_cuda.node', reason: 'no such file' }])
  const found = findDriver(() => {
    throw error
  })
  expect(found).toEqual({
    state: 'addon-missing',
    message: 'The native addon gpunvme_cuda could not be loaded',
    facts: ['/a/gpunvme_cuda.node: no such file'],
    next: expect.stringMatching(/build-native\.mjs$|Linux machine/) as string,
    cause: error,
  })
})

describe.skipIf(!hasStandin)(`the CUDA status${skippedWithoutStandin}`, () => {
  /** Returns the status after checking that openCuda throws an error with the same content. */
  function refused() {
    const status = cudaStatus()
    let error: unknown
    try {
      openCuda()
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(CudaUnavailableError)
    expect(status.available).toBe(false)
    if (status.available) throw new Error('available')
    expect(error).toMatchObject({ code: status.code, state: status.state, category: 'not-found' })
    expect((error as Error).message).toBe(
      [status.message, ...status.facts.map((fact) => `  ${fact}`), `  Try: ${status.next}`].join('\n'),
    )
    expect(JSON.parse(JSON.stringify(status))).toEqual(status)
    return status
  }

  test('with a driver and a GPU is available, with the capabilities of each GPU', () => {
    process.env['GPUNVME_STANDIN_DEVICES'] = '2'
    const status = cudaStatus()
    expect(status).toEqual({
      available: true,
      message: 'CUDA 12.2 with Stand-in 0 at 0000:0a:00.0, Stand-in 1 at 0000:0b:00.0',
      library: process.env['GPUNVME_CUDA_LIBRARY'],
      driverVersion: '12.2',
      moduleLoading: 'eager',
      devices: [0, 1].map((device) => ({
        device,
        name: `Stand-in ${device}`,
        computeCapability: '8.6',
        bdf: `0000:0${'ab'[device]!}:00.0`,
        memoryBytes: 1_073_741_824,
        usesHostPointers: false,
        canRegisterMemory: true,
        canGpuDirectRdma: false,
        canExportDmaBuf: false,
        limitsKernelTime: false,
        computeMode: 'default',
        ordering: { writesOrdering: 0, flushWritesOptions: 0 },
        engine: { usable: true, reasons: [] },
      })),
    })
    expect(JSON.parse(JSON.stringify(status))).toEqual(status)
    expect(standin.live()).toEqual(NOTHING)
  })

  test('without a library lists the paths tried', () => {
    process.env['GPUNVME_CUDA_LIBRARY'] = '/nonexistent/libcuda.so.1'
    expect(refused()).toMatchObject({
      state: 'library-missing',
      code: 'ERR_GPUNVME_NO_CUDA_DRIVER',
      message: "The NVIDIA driver's library could not be loaded",
      facts: [
        '/nonexistent/libcuda.so.1: cannot open shared object file: No such file or directory',
        'GPUNVME_CUDA_LIBRARY is set, so no other path was tried',
      ],
      next: "unset GPUNVME_CUDA_LIBRARY, or set it to the path of the driver's libcuda.so.1",
    })
  })

  test('of a library without cuInit names five missing functions, and the number of others', async () => {
    process.env['GPUNVME_CUDA_LIBRARY'] = await built('standin/without-cuInit')
    const { state, message, facts } = refused()
    const library = process.env['GPUNVME_CUDA_LIBRARY']
    expect({ state, message }).toEqual({
      state: 'library-missing',
      message: `${library} is not the library of a CUDA driver`,
    })
    expect(facts[0]).toBe(`${library} does not export cuInit`)
    const emptyAddon = {
      load: () => ({ path: '/usr/lib/libm.so.6', tried: [], missing: ['cuInit', 'b', 'c', 'd', 'e', 'f', 'g'] }),
    }
    expect(findDriver(() => emptyAddon as unknown as CudaAddon)).toMatchObject({
      message: '/usr/lib/libm.so.6 is not the library of a CUDA driver',
      facts: ['/usr/lib/libm.so.6 does not export cuInit, b, c, d, e and 2 more', expect.any(String)],
    })
  })

  test('of a library without a function is driver-too-old, and lists the missing ones', async () => {
    process.env['GPUNVME_CUDA_LIBRARY'] = await built('standin/without-registration')
    expect(refused()).toMatchObject({
      state: 'driver-too-old',
      code: 'ERR_GPUNVME_CUDA_DRIVER_TOO_OLD',
      facts: [
        `${process.env['GPUNVME_CUDA_LIBRARY']} does not export cuMemHostRegister_v2, cuMemGetHandleForAddressRange`,
      ],
    })
  })

  test('of a driver for CUDA before 12.2 is driver-too-old', () => {
    process.env['GPUNVME_STANDIN_VERSION'] = '12010'
    expect(refused()).toMatchObject({
      state: 'driver-too-old',
      facts: [`${process.env['GPUNVME_CUDA_LIBRARY']!} supports CUDA 12.1; the kernels require 12.2`],
    })
  })

  test('of a driver that does not start has the name and text of its error', () => {
    standin.fail('cuInit=803@1,cuInit=803@2')
    expect(refused()).toMatchObject({
      state: 'init-failed',
      code: 'ERR_GPUNVME_CUDA_INIT_FAILED',
      message: 'Starting the NVIDIA driver failed: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (library and module differ)',
      facts: [`library ${process.env['GPUNVME_CUDA_LIBRARY']!}`, 'cuInit returned 803'],
    })
  })

  test('without a GPU is no-device, whether cuInit or cuDeviceGetCount reports it', () => {
    process.env['GPUNVME_STANDIN_DEVICES'] = '0'
    const expected = { state: 'no-device', code: 'ERR_GPUNVME_NO_CUDA_DEVICE' }
    expect(refused()).toMatchObject(expected)
    standin.fail('cuInit=100@1,cuInit=100@2')
    expect(refused()).toMatchObject(expected)
  })

  test.each([
    ['75=7,76=0', ['compute-capability']],
    ['75=7,76=5', []],
    ['20=2', ['compute-mode']],
    ['20=3', []],
    ['99=0', ['no-registration']],
    ['17=1', ['kernel-time-limit']],
    ['75=9,76=0', []],
    ['75=10,76=0', ['blackwell-registers']],
    ['75=12,76=0,17=1', ['kernel-time-limit', 'blackwell-registers']],
  ])('reports whether the engine cuda is usable: attributes %s', (attributes, codes) => {
    process.env['GPUNVME_STANDIN_ATTRIBUTES'] = attributes
    const status = cudaStatus()
    if (!status.available) throw new Error(status.message)
    const { engine } = status.devices[0]!
    expect(engine.reasons.map(({ code }) => code)).toEqual(codes)
    // A time limit is acceptable: leaders are relaunched before it.
    expect(engine.usable).toBe(codes.every((code) => code === 'kernel-time-limit'))
    for (const { next } of engine.reasons) expect(next).not.toBe('')
  })

  test('has the time limit, compute mode and write ordering of the driver', () => {
    process.env['GPUNVME_STANDIN_ATTRIBUTES'] = '17=1,20=3,117=1,118=100'
    const status = cudaStatus()
    expect(status).toMatchObject({
      devices: [
        {
          limitsKernelTime: true,
          computeMode: 'exclusive-process',
          ordering: { writesOrdering: 100, flushWritesOptions: 1 },
        },
      ],
    })
    if (!status.available) throw new Error(status.message)
    expect(decideOrdering(status.devices[0]!.ordering)).toEqual({ kind: 'ordered' })
  })

  test.each([
    [46, 'CUDA_ERROR_DEVICE_UNAVAILABLE', /nvidia-smi -q -d COMPUTE/],
    [802, 'CUDA_ERROR_SYSTEM_NOT_READY', /nvidia-fabricmanager/],
    [803, 'CUDA_ERROR_SYSTEM_DRIVER_MISMATCH', /reboot/],
    [804, 'CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE', /cuda-compat/],
    [999, 'CUDA_ERROR_UNKNOWN', /^run nvidia-smi/],
  ])('has a next step if the driver does not start with %i %s', (result, name, next) => {
    standin.fail(`cuInit=${result}@1,cuInit=${result}@2`)
    expect(refused()).toMatchObject({
      state: 'init-failed',
      message: expect.stringContaining(name) as string,
      facts: [expect.any(String), `cuInit returned ${result}`],
      next: expect.stringMatching(next) as string,
    })
  })

  test('lists every device: openCuda rejects other indices with a RangeError', () => {
    for (const device of [1, -1, 0.5]) {
      expect(() => openCuda({ device })).toThrow(
        new RangeError(`device: expected an integer from 0 to 0, got ${device}`),
      )
    }
    expect(standin.live()).toEqual(NOTHING)
  })

  test('has the number of an error without a name', () => {
    standin.fail('cuInit=4711')
    expect(cudaStatus()).toMatchObject({
      message: 'Starting the NVIDIA driver failed: an unnamed error (no description)',
      facts: [expect.any(String), 'cuInit returned 4711'],
    })
  })
})
