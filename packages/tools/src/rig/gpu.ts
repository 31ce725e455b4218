import { cudaStatus, NativeAddonError, type CudaDevice } from '@gpunvme/cuda-native'
import { cudaChecksummer, openCuda, type Cuda } from '@gpunvme/cuda-native/cuda'
import { nativeChecksummer, nativeFileReader } from '@gpunvme/cuda-native/host'
import { workerChecksummer } from '@gpunvme/layer-loader'
import { hostCopies } from '@gpunvme/layer-loader/residence'
import type { Checksummer, CopyEngine, FileReader } from '@gpunvme/nvme-spec/transport'
import { defaultVramBytes } from '../model/machine-cost.js'
import type { Choice } from './choice.js'
import type { Teardown } from './teardown.js'

/** Destination of layers: a GPU, or host memory in its place. */
export interface Target {
  /** 'NVIDIA H100 PCIe', or 'host memory'. */
  readonly name: string
  /** The GPU; absent if host memory takes its place. */
  readonly gpu?: { readonly cuda: Cuda; readonly device: CudaDevice }
  readonly copies: CopyEngine
  /** Computes checksums in the destination's memory. */
  readonly checksummer: Checksummer
  /** Default budget of GPU memory; 0 without a GPU. */
  readonly defaultVramBytes: number
}

/**
 * Opens the requested GPU; by default GPU 0, or host memory in its place.
 * @throws CudaUnavailableError, NativeAddonError if a requested GPU cannot be used; RangeError if it does not exist
 */
export function openTarget(wanted: number | 'none' | undefined, teardown: Teardown): [Target, Choice] {
  const choice = (chosen: string, reason: string, rejected: Choice['rejected'] = []): Choice => {
    return { subject: 'gpu', chosen, reason, rejected }
  }
  if (wanted === 'none') return [hostTarget(), choice('none', 'requested')]
  if (wanted === undefined) {
    const status = cudaStatus()
    if (!status.available) {
      const reason = 'no usable GPU; using host memory'
      return [hostTarget(), choice('none', reason, [{ option: 'GPU 0', reason: status.message }])]
    }
  }
  const target = gpuTarget(wanted ?? 0, teardown)
  const reason = wanted === undefined ? 'the first GPU that CUDA lists' : 'requested'
  return [target, choice(`GPU ${wanted ?? 0}: ${target.name}`, reason)]
}

/** Returns a checksummer of host memory that leaves this thread free: native if the addon is built. */
export function hostChecksummer(): Checksummer {
  return ifBuilt(nativeChecksummer) ?? workerChecksummer
}

/** Returns a reader of files into host memory; undefined if the addon is not built, so that `node:fs` reads. */
export function hostFileReader(): FileReader | undefined {
  return ifBuilt(nativeFileReader)
}

function ifBuilt<T>(make: () => T): T | undefined {
  try {
    return make()
  } catch (error) {
    if (error instanceof NativeAddonError) return undefined
    throw error
  }
}

function hostTarget(): Target {
  return { name: 'host memory', copies: hostCopies(), checksummer: hostChecksummer(), defaultVramBytes: 0 }
}

function gpuTarget(number: number, teardown: Teardown): Target {
  const cuda = openCuda({ device: number })
  teardown.add(async () => {
    await cuda.close()
  })
  const status = cudaStatus()
  if (!status.available) throw new TypeError('expected CUDA to list the opened GPU')
  const device = status.devices[number]!
  const copies = cuda.copyEngine()
  teardown.add(() => copies.close())
  const checksummer = cudaChecksummer(cuda)
  teardown.add(() => checksummer.close())
  return {
    name: device.name,
    gpu: { cuda, device },
    copies,
    checksummer,
    defaultVramBytes: defaultVramBytes(device.memoryBytes),
  }
}
