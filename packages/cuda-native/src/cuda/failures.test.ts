import { describe, expect, test } from 'vitest'
import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { CudaCallError, CudaRegistrationError, CudaUnavailableError, openCuda } from './index.js'
import { hasStandin, NOTHING, skippedWithoutStandin, useStandin } from '../../test/standin/standin.js'
import { native } from '../../test/native.js'

const standin = useStandin()

/** Functions that the stand-in exports, as in native/cuda/driver.h. */
const FUNCTIONS = `
  cuInit cuDriverGetVersion cuDeviceGetCount cuDeviceGet cuDeviceGetName cuDeviceTotalMem_v2 cuDeviceGetAttribute
  cuDeviceGetPCIBusId cuDevicePrimaryCtxRetain cuDevicePrimaryCtxRelease_v2 cuCtxSetCurrent cuModuleLoadDataEx
  cuModuleUnload cuModuleGetFunction cuFuncLoad cuFuncGetAttribute cuLaunchKernel cuStreamCreate cuStreamDestroy_v2 cuStreamQuery
  cuEventCreate cuEventRecord cuEventQuery cuEventDestroy_v2 cuMemAlloc_v2 cuMemFree_v2 cuMemHostAlloc cuMemFreeHost
  cuMemHostRegister_v2 cuMemHostUnregister cuMemHostGetDevicePointer_v2 cuMemcpyHtoDAsync_v2 cuMemcpyDtoHAsync_v2
  cuMemsetD8Async cuMemGetHandleForAddressRange cuFlushGPUDirectRDMAWrites`
  .trim()
  .split(/\s+/)

/** Uses everything that Cuda offers once; releases half of it itself, and half by closing. */
async function life(): Promise<void> {
  const { closeSync } = await import('node:fs')
  const region = native.allocate(8192, 4096)
  standin.pretend({ address: region.address + 4096n, lengthBytes: 4096 })
  const cuda = openCuda()
  try {
    cuda.loadKernels(standin.ptx)
    const [pinned, left] = [cuda.allocPinned(64), cuda.allocPinned(64)]
    const registers = cuda.registerIo(region.address + 4096n, 4096)
    const stream = cuda.stream()
    cuda.launch('standin_add', 1, 1, [pinned.gpuPointer, 1], stream)
    await stream.finished()
    const engine = cuda.copyEngine()
    const memory = engine.alloc(4096)
    await memory.fill(0)
    const from = { lengthBytes: 64, view: new DataView(left.buffer), forHost: () => undefined } as unknown as DmaMemory
    await engine.copy(from, 0, memory, 0, 64)
    await memory.read()
    closeSync(cuda.exportDmaBuf(memory.gpuPointer, 4096))
    cuda.flushWrites()
    stream.close()
    registers.unregister()
    pinned.free()
    memory.free()
    cuda.register(region.address, 4096)
    cuda.allocDevice(64)
  } finally {
    await cuda.close()
    region.unmap()
  }
}

describe.skipIf(!hasStandin)(`if a call of the driver fails${skippedWithoutStandin}`, () => {
  test('a run without a failure releases everything', async () => {
    await life()
    expect(standin.live()).toEqual(NOTHING)
  })

  test.each(FUNCTIONS)(
    '%s: each failing call is an error with function and result names, and everything is released',
    async (name) => {
      // The number of calls of these depends on timing.
      const max = ['cuEventQuery', 'cuStreamQuery'].includes(name) ? 10 : 100
      let calls = 0
      let reported = 0
      for (; calls < max; calls++) {
        const before = standin.failed()
        standin.fail(`${name}=801@${calls + 1}`)
        const error: unknown = await life().then(
          () => undefined,
          (thrown: unknown) => thrown,
        )
        // The run ended before that call.
        if (standin.failed() === before) {
          expect(error).toBeUndefined()
          break
        }
        expect(standin.live()).toEqual(NOTHING)
        // A failing query counts as finished work; the failure shows at the next call.
        if (['cuStreamQuery', 'cuCtxSetCurrent'].includes(name) && error === undefined) continue
        reported++
        const told = error instanceof CudaRegistrationError ? error.cause : error
        if (error instanceof CudaUnavailableError) {
          expect(error).toMatchObject({ state: 'init-failed', cause: { call: name } })
        } else {
          expect(told).toBeInstanceOf(CudaCallError)
          expect(told).toMatchObject({ call: name, result: 801, resultName: 'CUDA_ERROR_NOT_SUPPORTED' })
        }
      }
      if (name !== 'cuStreamQuery') expect(reported).toBeGreaterThan(0)
      if (max === 100) expect(calls).toBeLessThan(max)
    },
  )

  test('an error is reported even if the driver cannot name it', async () => {
    for (const plan of ['cuGetErrorName=999', 'cuGetErrorString=999']) {
      standin.fail(`cuMemAlloc_v2=2,${plan}`)
      await expect(life()).rejects.toThrow(/^Allocating 4096 bytes of GPU memory failed: /)
      expect(standin.live()).toEqual(NOTHING)
    }
  })
})
