import { afterEach, describe, expect, test } from 'vitest'
import { CudaCallError, cudaStatus, openCuda } from './index.js'
import { built } from '../../test/programs/build.mjs'
import { hasStandin, NOTHING, skippedWithoutStandin, useStandin } from '../../test/standin/standin.js'
import { native } from '../../test/native.js'

const standin = useStandin()

/** Errors that, by cuda.h, leave the process in an inconsistent state: it must be terminated and relaunched. */
const DEATHS = [
  [214, 'CUDA_ERROR_ECC_UNCORRECTABLE'],
  [700, 'CUDA_ERROR_ILLEGAL_ADDRESS'],
  [702, 'CUDA_ERROR_LAUNCH_TIMEOUT'],
  [710, 'CUDA_ERROR_ASSERT'],
  [714, 'CUDA_ERROR_HARDWARE_STACK_ERROR'],
  [715, 'CUDA_ERROR_ILLEGAL_INSTRUCTION'],
  [716, 'CUDA_ERROR_MISALIGNED_ADDRESS'],
  [717, 'CUDA_ERROR_INVALID_ADDRESS_SPACE'],
  [718, 'CUDA_ERROR_INVALID_PC'],
  [719, 'CUDA_ERROR_LAUNCH_FAILED'],
  [999, 'CUDA_ERROR_UNKNOWN'],
] as const

/** Makes a function fail from its next call on, in all contexts. */
function dies(call: string, result: number): void {
  standin.fail(`${call}=${result}@1+`)
  // The stand-in reads the plan in cuInit.
  cudaStatus()
}

describe.skipIf(!hasStandin)(`an unusable context${skippedWithoutStandin}`, () => {
  afterEach(() => expect(standin.live()).toEqual(NOTHING))

  test.each(DEATHS)(
    'after error %i: waits end, everything is released, and close reports the error once',
    async (result, resultName) => {
      const region = native.allocate(8192, 4096)
      const cuda = openCuda()
      cuda.loadKernels(standin.ptx)
      const [pinned, device, stream] = [cuda.allocPinned(4096), cuda.allocDevice(4096), cuda.stream()]
      const [given, left] = [cuda.register(region.address, 4096), cuda.register(region.address + 4096n, 4096)]
      cuda.launch('standin_wait', 1, 1, [pinned.gpuPointer], stream)
      const wait = stream.finished()
      dies('cuEventQuery', result)
      const died = { call: 'cuEventQuery', result, resultName }
      await expect(wait).rejects.toMatchObject(died)
      await expect(wait).rejects.toThrow(/\n {2}Try: restart this process/)
      // The GPU no longer uses these, whatever the driver returns.
      given.unregister()
      device.free()
      expect(standin.live()).toMatchObject({ registered: 1, device: 0 })
      expect(() => cuda.allocDevice(1)).toThrow(CudaCallError)
      const closed = await cuda.close()
      expect(closed.fatalError).toMatchObject({ result, resultName })
      expect(closed.fatalError?.message).toMatch(/^Work on the GPU failed: .*\n.*\n {2}Try: restart this process/)
      expect(pinned.buffer.byteLength).toBe(0)
      expect(() => left.unregister()).toThrow(TypeError)
      region.unmap()
      expect(() => openCuda()).toThrow(CudaCallError)
    },
  )

  test('is detected by close, although work never ends', async () => {
    const cuda = openCuda()
    cuda.loadKernels(standin.ptx)
    cuda.launch('standin_wait', 1, 1, [cuda.allocPinned(4).gpuPointer])
    dies('cuStreamQuery', 719)
    expect((await cuda.close()).fatalError).toMatchObject({ result: 719 })
  })

  test('ends a pending copy, whose memory can be freed', async () => {
    const cuda = openCuda()
    const memory = cuda.allocDevice(64)
    standin.holdCopies(true)
    const read = memory.read()
    dies('cuEventQuery', 700)
    await expect(read).rejects.toMatchObject({ result: 700 })
    memory.free()
    await cuda.close()
    standin.holdCopies(false)
  })

  test('is not assumed after an error unrelated to work on the GPU', async () => {
    const cuda = openCuda()
    standin.fail('cuMemAlloc_v2=999@1')
    cudaStatus()
    expect(() => cuda.allocDevice(1)).toThrow(/^Allocating 1 bytes of GPU memory failed: CUDA_ERROR_UNKNOWN(?!.*Try)/s)
    cuda.allocDevice(1)
    expect(await cuda.close()).toEqual({})
  })
})

describe.skipIf(!hasStandin)(`kernels of a module${skippedWithoutStandin}`, () => {
  test('are all loaded with the module, not while another kernel may run', async () => {
    const cuda = openCuda()
    cuda.loadKernels(standin.ptx)
    expect(standin.lookups()).toEqual({ asked: 4, loaded: 4 })
    const [word, stream] = [cuda.allocPinned(4), cuda.stream()]
    cuda.launch('standin_add', 1, 1, [word.gpuPointer, 1], stream)
    await stream.finished()
    expect(standin.lookups()).toEqual({ asked: 4, loaded: 4 })
    await cuda.close()
  })

  test('are found with a driver without cuFuncLoad and cuModuleGetLoadingMode', async () => {
    process.env['GPUNVME_CUDA_LIBRARY'] = await built('standin/without-loading')
    expect(cudaStatus()).toMatchObject({ available: true, moduleLoading: 'unknown' })
    const cuda = openCuda()
    cuda.loadKernels(standin.ptx)
    expect(standin.lookups()).toEqual({ asked: 4, loaded: 0 })
    await cuda.close()
  })

  test('are loaded eagerly unless CUDA_MODULE_LOADING is set', () => {
    expect(cudaStatus()).toMatchObject({ moduleLoading: 'eager' })
    const before = process.env['CUDA_MODULE_LOADING']
    expect(before).toBe('EAGER')
    process.env['CUDA_MODULE_LOADING'] = 'LAZY'
    expect(cudaStatus()).toMatchObject({ moduleLoading: 'lazy' })
    process.env['CUDA_MODULE_LOADING'] = before
  })
})
